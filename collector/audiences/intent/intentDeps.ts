import type { ReadDeps } from '../../events/query/readDeps.ts'

export type IntentDeps = Pick<
  ReadDeps,
  'openQueryExecutor' | 'allowance' | 'billing' | 'cursors' | 'postgres' | 'now'
>
