'use client'
import { useFootfall } from 'footfall-pixel/next'

export default function Shop() {
  const footfall = useFootfall()
  return (
    <button type="button" onClick={() => footfall('track', 'added_to_cart', { sku: 'blue-vase' })}>
      Add to cart
    </button>
  )
}
