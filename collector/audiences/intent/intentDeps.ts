import type { ReadDeps } from '../../events/query/readDeps.ts'

/** What the intent routes are built from. */
export type IntentDeps = Pick<
  ReadDeps,
  'openQueryExecutor' | 'billing' | 'cursors' | 'postgres' | 'now'
>
