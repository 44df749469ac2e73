import type { Footfall } from '../footfall.d.ts'

declare global {
  interface Window {
    /** The stub, with the calls it keeps in q, or the pixel, marked by `on`. */
    footfall?: ((...call: unknown[]) => void) & Partial<Footfall> & { q?: unknown[][]; on?: 1 }
  }
  interface Navigator {
    globalPrivacyControl?: boolean
  }
  interface Document {
    prerendering?: boolean
  }
}
