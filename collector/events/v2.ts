import type { EarlierVersion } from './earlier.ts'

/**
 * Events, version 2: as version 1, and DSP events with source=svcdsp (spec: Events, earlier versions). Both bounds
 * of the window are inclusive, and it may be as long as a campaign.
 */
export const v2: EarlierVersion = { windowMsMax: null, includesEnd: true }
