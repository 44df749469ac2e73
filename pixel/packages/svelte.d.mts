import type { Component } from 'svelte'
import type { Script } from './loader.mjs'

/** Loads the pixel. Put it into the root layout of SvelteKit. */
declare const Footfall: Component<
  Script & {
    /** The visitor's decision. Without it, the setting of the pixel applies. */
    consent?: 'granted' | 'denied'
  }
>
export default Footfall
