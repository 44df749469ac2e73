'use client'
import { init } from 'footfall-pixel/pixel'
import { useEffect } from 'react'

/**
 * Starts the pixel in the browser, once, however often React mounts this. Put it beside your root component; in
 * Next.js into app/layout.jsx, inside <body>. Routers need no hook: the pixel sees pushState and its like by itself.
 */
export function Footfall({ pixelId, endpoint }) {
  useEffect(() => {
    init({ pixel_id: pixelId, endpoint })
  }, [pixelId, endpoint])
  return null
}
