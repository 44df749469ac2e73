import type { ReadDeps } from '../query/deps.ts'

/** What the audiences are built from. */
export type AudiencesDeps = Pick<ReadDeps, 'openReader' | 'billing' | 'cursors' | 'postgres' | 'now'>
