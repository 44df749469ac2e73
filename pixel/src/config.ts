import type { PixelSettings } from '../../schemas/beacon.ts'

export interface PixelConfig {
  pixel_id: string
  endpoint: string
  settings: PixelSettings
}

/** Set once, by start(), before anything else runs. */
export let config: PixelConfig
export let settings: PixelSettings

export const configure = (value: PixelConfig): void => {
  config = value
  settings = value.settings
}
