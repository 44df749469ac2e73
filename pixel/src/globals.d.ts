import type { Footfall } from '../footfall.d.ts'

/** The arguments of one call. */
export type Call = Iterable<unknown>

declare global {
  interface Window {
    /** The stub, with the calls it keeps in q, or the pixel, marked by `on`. */
    footfall?: Footfall & { q?: Call[]; on?: 1 }
  }
  interface Navigator {
    globalPrivacyControl?: boolean
  }
  interface Document {
    prerendering?: boolean
  }
}
