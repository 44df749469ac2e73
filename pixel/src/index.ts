import type { init as Init, Settings } from '../footfall.d.ts'
import { start } from './start.ts'

/** The defaults of schemas/beacon.ts, which the build puts here. */
declare const __FOOTFALL_DEFAULT_SETTINGS__: Settings

export const init: typeof Init = ({ pixel_id, endpoint, ...options }) =>
  start({
    pixel_id,
    endpoint: new URL(endpoint, location.href).href,
    settings: { ...__FOOTFALL_DEFAULT_SETTINGS__, ...options },
  })
