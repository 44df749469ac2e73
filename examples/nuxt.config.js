/**
 * Nuxt: what belongs into your nuxt.config. The pixel sees the router's page views by itself. Your pixel's id goes in
 * place of PIXEL_ID, your collector's address in place of this one. In components: window.footfall('track', …), in
 * code that runs in the browser only, as onMounted does.
 */
const stub =
  '!function(w){(w.footfall||0).call||(w.footfall=function(){(w.footfall.q=w.footfall.q||[]).push(arguments)})}(window)'

export default {
  app: {
    head: {
      script: [
        { innerHTML: stub, tagPriority: 'high' },
        { src: 'http://127.0.0.1:8787/p/PIXEL_ID.js', async: true },
      ],
    },
  },
}
