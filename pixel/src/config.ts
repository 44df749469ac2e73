import type { PixelConfig } from '../config.ts'

/** The collector puts a pixel's own in place of this name when it serves the script; the module has it as a parameter. */
declare const __FOOTFALL_PIXEL_CONFIG__: PixelConfig

/** See PixelConfig. */
export const [
  pixelId,
  endpoint,
  scriptUrl,
  consentLevel,
  honoursGpc,
  textLengthMax,
  masked,
  unread,
  secrets,
  searchParameters,
  downloads,
  fragment,
] = __FOOTFALL_PIXEL_CONFIG__
