import type { Script } from 'footfall/loader'
import type { JSX } from 'react'

export { useFootfall, useIdentify } from 'footfall/react'

/** The snippet for the root layout of Next.js: a server component. */
export declare function Footfall(
  props: Script & {
    /** The visitor's decision. Without it, the setting of the pixel applies. */
    consent?: 'granted' | 'denied'
  },
): JSX.Element
