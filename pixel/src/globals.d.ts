import type { PixelConfig } from '../config.ts'
import type { Footfall } from '../footfall.d.ts'

declare global {
  /** The collector inserts the values into the script; the module receives them as a parameter (build.mjs). */
  const config: PixelConfig

  interface Window {
    /** The browser's own setTimeout, on pages with zone.js. */
    __zone_symbol__setTimeout?: typeof setTimeout
    /** Not in older browsers. */
    navigation?: EventTarget
    /**
     * The stub, with its calls in q, or the pixel, marked by `on`. Also the function that listens again, by
     * queueName, and the early entries (early.ts).
     */
    footfall?: ((...call: unknown[]) => void) &
      Partial<Footfall> & { q?: unknown[][]; on?: 1; early?: () => PerformanceEntry[] } & {
        [pixel: `footfall_${string}`]: () => void
      }
  }
  interface Navigator {
    globalPrivacyControl?: boolean
  }
  interface Document {
    prerendering?: boolean
  }
}
