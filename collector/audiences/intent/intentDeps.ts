import type { ReadDeps } from '../../events/query/readDeps.ts'

/** Dependencies of the intent routes. */
export type IntentDeps = Pick<
  ReadDeps,
  'openQueryExecutor' | 'allowance' | 'billing' | 'cursors' | 'postgres' | 'now'
>
