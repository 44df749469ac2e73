import type { Footfall, Script } from './loader.mjs'

/** A plugin of Vue and Nuxt: loads the pixel in the browser, and adds `$footfall` to templates. */
export declare const footfallPlugin: {
  install(app: { config: { globalProperties: Record<string, unknown> } }, script: Script): void
}

/** The function of the pixel. */
export declare function useFootfall(): Footfall
