import type { PixelConfig } from './config.ts'
import { start } from './start.ts'

/** The collector puts the pixel's own in place of this name when it serves the script. */
declare const __FOOTFALL_PIXEL_CONFIG__: PixelConfig

const config = __FOOTFALL_PIXEL_CONFIG__
// Script optimisers inline, move and rename: currentScript may be null, or have no src.
const script =
  (document.currentScript as HTMLScriptElement | null)?.src ||
  document.querySelector<HTMLScriptElement>(`script[src*="${config.pixel_id}"]`)?.src
config.endpoint = new URL(config.endpoint, script || location.origin).href
start(config)
