import { footfallPlugin, useFootfall } from 'footfall-pixel/vue'
import { createApp, h } from 'vue'

const Shop = {
  setup() {
    const footfall = useFootfall()
    const buy = () => footfall('track', 'added_to_cart', { sku: 'blue-vase' })
    return () => h('button', { type: 'button', onClick: buy }, 'Add to cart')
  },
}

createApp(Shop).use(footfallPlugin, { src: 'http://127.0.0.1:8787/p/PIXEL_ID.js' }).mount('#root')
