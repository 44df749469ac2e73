import type { Footfall } from '../../dist/pixel/index.js'

export type { Footfall } from '../../dist/pixel/index.js'

/** The script of a pixel, as the dashboard shows it. */
export interface Script {
  /** "https://collector.example/p/PIXEL_ID.js" */
  src: string
  /** The nonce of the page's Content Security Policy. */
  nonce?: string
  /** The hash of a versioned script. */
  integrity?: string
}

/** The function of the pixel. It keeps calls until the script arrives, and does nothing on a server. */
export declare const footfall: Footfall

/** Loads the script, once per page; does nothing on a server. Settings are those of the dashboard. */
export declare function load(script: Script): Footfall
