import type { ReadDeps } from '../events/query/readDeps.ts'
import type { Files } from './files/open.ts'

/** What the audiences are built from. */
export type AudiencesDeps = Pick<
  ReadDeps,
  'openQueryExecutor' | 'billing' | 'cursors' | 'postgres' | 'now'
> &
  Files
