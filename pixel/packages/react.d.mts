import type { Footfall as Call, Script } from './loader.mjs'

/** Loads the pixel. Routers need no hook: the pixel sees pushState. */
export declare function Footfall(
  props: Script & {
    /** What the visitor decided. Absent: nothing is said. */
    consent?: 'granted' | 'denied'
  },
): null

/** The function of the pixel: the same in every render. */
export declare function useFootfall(): Call

/** Links this browser to a person while they are signed in; null: nobody is. */
export declare function useIdentify(
  person: (({ email: string } | { hem: string }) & { signature?: string }) | null,
): void
