import type { Script } from './loader.mjs'

/** A module of Nuxt. Its options are `footfall` in nuxt.config. */
declare const footfallModule: {
  (inlineOptions: Partial<Script>, nuxt: unknown): void
  meta: { name: string; configKey: string }
  getMeta(): Promise<{ name: string; configKey: string }>
}
export default footfallModule

declare module '@nuxt/schema' {
  interface NuxtConfig {
    footfall?: Script
  }
}
