import type { LegacyVersion } from './legacy.ts'

/**
 * Events, version 2: as version 1, and DSP events with source=svcdsp (spec: Events, versions 1 and 2). Both bounds
 * of the window are inclusive, and it may be as long as a campaign.
 */
export const v2: LegacyVersion = { windowMsMax: null, includesEnd: true }
