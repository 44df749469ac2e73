export default defineNuxtConfig({
  modules: ['footfall-pixel/nuxt'],
  footfall: { src: 'https://collector.example/p/PIXEL_ID.js' },
  telemetry: false,
})
