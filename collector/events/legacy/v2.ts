import type { LegacyVersion } from './legacy.ts'

/**
 * Events, version 2: like version 1, with DSP events for source=svcdsp (spec: Events, versions 1 and 2). Both
 * bounds of the window are inclusive, and its length is not limited.
 */
export const v2: LegacyVersion = { windowMsMax: null, includesEnd: true }
