import { fileURLToPath } from 'node:url'

const plugin = fileURLToPath(new URL('./nuxtPlugin.mjs', import.meta.url))

/** A module of Nuxt: `modules: ['footfall-pixel/nuxt'], footfall: { src }`. It adds the plugin and transpiles it. */
export default function footfallModule(inlineOptions, nuxt) {
  const options = { ...nuxt.options.footfall, ...inlineOptions }
  if (typeof options.src !== 'string')
    throw new Error('footfall.src in nuxt.config must be the address of the pixel, a string')
  nuxt.options.runtimeConfig.public.footfall = options
  nuxt.options.build.transpile.push(plugin)
  nuxt.options.plugins.push({ src: plugin })
}
footfallModule.meta = { name: 'footfall', configKey: 'footfall' }
footfallModule.getMeta = async () => footfallModule.meta
