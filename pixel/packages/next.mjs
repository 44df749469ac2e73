import { createElement, Fragment } from 'react'
import { stub } from '../stub.mjs'

export { useFootfall, useIdentify } from './react.mjs'

/**
 * The snippet for the root layout of Next.js. It is a server component: the page has the script without waiting for
 * React, and no other code.
 */
export function Footfall({ src, nonce, integrity, consent }) {
  const said = consent
    ? `;footfall('consent','${consent === 'granted' ? 'granted' : 'denied'}')`
    : ''
  return createElement(
    Fragment,
    null,
    createElement('script', { nonce, dangerouslySetInnerHTML: { __html: `${stub}${said}` } }),
    createElement('script', {
      async: true,
      src,
      nonce,
      integrity,
      crossOrigin: integrity ? 'anonymous' : undefined,
    }),
  )
}
