import type { JSX } from 'react'
import type { Script } from './loader.mjs'

export { useFootfall, useIdentify } from './react.mjs'

/** The snippet for the root layout of Next.js: a server component. */
export declare function Footfall(
  props: Script & {
    /** The visitor's decision. Without it, the setting of the pixel applies. */
    consent?: 'granted' | 'denied'
  },
): JSX.Element
