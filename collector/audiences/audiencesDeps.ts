import type { Allowance } from '../billing/allowance.ts'
import type { ReadDeps } from '../events/query/readDeps.ts'
import type { Files } from './files/open.ts'

export type AudiencesDeps = Pick<
  ReadDeps,
  'openQueryExecutor' | 'billing' | 'cursors' | 'postgres' | 'now'
> &
  Files & { readonly allowance: Allowance }
