import type { Script } from './loader.mjs'

/** The snippet for the head of a layout of Astro. */
declare const Footfall: (
  props: Script & {
    /** The visitor's decision. Without it, the setting of the pixel applies. */
    consent?: 'granted' | 'denied'
  },
) => unknown
export default Footfall
