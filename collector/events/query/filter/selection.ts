import type { Scope } from '../../../api/access/policy.ts'
import type { Source } from '../source.ts'
import type { Window } from '../window/window.ts'
import type { Filter } from './filter.ts'

/** Whether a read includes events of bots (`is_bot`). */
export type Bots = 'included' | 'excluded'

/** The selected events of a read. The scope comes from the principal, never from the request alone. */
export interface Selection {
  readonly scope: Scope
  /** Null: events of both sources, unless other parts of the selection restrict them. */
  readonly source: Source | null
  readonly window: Window
  readonly filters: readonly Filter[]
  /** Absent: included. */
  readonly bots?: Bots
}
