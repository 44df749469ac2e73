import { Footfall, useFootfall } from 'footfall-pixel/react'
import { createElement, Fragment } from 'react'
import { createRoot } from 'react-dom/client'

function Shop() {
  const footfall = useFootfall()
  const buy = () => footfall('track', 'added_to_cart', { sku: 'blue-vase' })
  return createElement('button', { type: 'button', onClick: buy }, 'Add to cart')
}

createRoot(document.getElementById('root')).render(
  createElement(
    Fragment,
    null,
    createElement(Footfall, { src: 'http://127.0.0.1:8787/p/PIXEL_ID.js' }),
    createElement(Shop),
  ),
)
