import { type PixelConfig, pixelConfig } from '../config.ts'
import type { Options, Settings } from '../footfall.d.ts'
import { keepEarly } from './early.ts'
import { attempt } from './safe.ts'

/** The defaults of schemas/beacon.ts, which the build puts here. */
declare const __FOOTFALL_DEFAULT_SETTINGS__: Settings

/** The function that runs the pixel's script; the build inserts it into the module (build.mjs). */
export const configOf = ({ pixel_id, endpoint, ...options }: Options): PixelConfig =>
  pixelConfig(pixel_id, absolute(endpoint), location.href, {
    ...__FOOTFALL_DEFAULT_SETTINGS__,
    ...options,
  })

const absolute = (url: string) => new URL(url, location.href).href

/** Loads further chunks of the options in idle time. If they are blocked, the pixel works without them. */
export const loadChunks = ({
  endpoint,
  web_vitals,
  video_embeds,
  identify_forms,
}: Options): void => {
  const load = () => {
    for (const name of [
      web_vitals && 'vitals',
      video_embeds && 'embeds',
      identify_forms && 'forms',
    ]) {
      const url = new URL(`p/${name}.js`, absolute(endpoint)).href
      if (name) import(/* webpackIgnore: true */ /* @vite-ignore */ url).catch(() => {})
    }
  }
  if (web_vitals) attempt(keepEarly)
  ;(window.requestIdleCallback || setTimeout)(load)
}
