import { footfall, load } from './loader.mjs'

/** A plugin of Vue and Nuxt: loads the pixel in the browser, and adds `$footfall` to templates. */
export const footfallPlugin = {
  install(app, script) {
    load(script)
    app.config.globalProperties.$footfall = footfall
  },
}

/** The function of the pixel. */
export const useFootfall = () => footfall
