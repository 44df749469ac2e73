import { defineNuxtPlugin, useRuntimeConfig } from 'nuxt/app'
import { footfall, load } from './loader.mjs'

/** Loads the pixel in the browser, and provides `$footfall`, which does nothing on the server. */
export default defineNuxtPlugin({
  name: 'footfall',
  setup() {
    const { src, nonce, integrity } = useRuntimeConfig().public.footfall
    load({ src, nonce, integrity })
    return { provide: { footfall } }
  },
})
