import type { Script } from 'footfall/loader'
import type { Component } from 'svelte'

/** Loads the pixel. Put it into the root layout of SvelteKit. */
declare const Footfall: Component<
  Script & {
    /** The visitor's decision. Without it, the setting of the pixel applies. */
    consent?: 'granted' | 'denied'
  }
>
export default Footfall
