import type { Field } from '../../../schemas/fields.ts'
import type { Scope } from '../../api/access/policy.ts'
import type { SampleNames } from '../../api/access/sandboxTenant.ts'
import type { Cursor, RowKey } from './cursor.ts'
import type { ExpectedRecords } from './expectedRecords.ts'
import type { Filter } from './filter.ts'
import type { Group } from './groupBy.ts'
import type { Order } from './order.ts'
import type { Source } from './source.ts'
import type { Window } from './window.ts'

/** Whether a read includes events of bots (`is_bot`), excludes them, or returns only them. */
export type Bots = 'included' | 'excluded' | 'only'

/** The selected events of a read. The scope comes from the principal, never from the request alone. */
export interface Selection {
  readonly scope: Scope
  /** Null: events of both sources, unless other parts of the selection restrict them. */
  readonly source: Source | null
  readonly window: Window
  readonly filters: readonly Filter[]
  /** Filters on session fields (sessionFields.ts): events of matching sessions. */
  readonly sessionFilters?: readonly Filter[]
  /** Absent: included. */
  readonly bots?: Bots
  /** Reads one of so many visitors, chosen by a hash. Absent: all. */
  readonly oneVisitorOf?: number
  /** Reads only these records, and fails if the person of one of them has changed. */
  readonly expected?: ExpectedRecords
}

/** A page of events. */
export interface EventsPlan extends Selection {
  /** The columns, in the order of the response. */
  readonly columns: readonly Field[]
  /** Whether the request has no `select`: the columns are all fields of the tier. */
  readonly hasAllColumns: boolean
  /** Whether CSV escapes texts that a spreadsheet would run. */
  readonly escapesFormulas?: boolean
  /** The ids that a test key sees instead of the sample's. */
  readonly sampleNames?: SampleNames | null
  /** Of the events with equal values in these fields only the newest is returned; empty returns all. */
  readonly distinct: readonly Field[]
  readonly limit: number
  /** Number of rows to skip (versions 1 and 2); not together with a cursor. */
  readonly offset: number
  readonly cursor: Cursor | null
  /** The first row after the page, if known. */
  readonly until?: RowKey
  /** Excludes rows further than this many milliseconds from the start of the page (see estimateSpan). */
  readonly spanMs?: number | undefined
  /** Time until which the answer reports to be complete, epoch milliseconds; null if unknown. */
  readonly completeUntil?: number | null
  /** No preliminary query that would reduce the scan. */
  readonly isForEstimate?: true
  readonly order: Order
}

/** A page of events whose answer has a cursor. */
export interface CursorPlan extends EventsPlan {
  /** Of the selection; cursors of another one are refused. */
  readonly question: string
}

/** Counts of events. */
export interface CountsPlan extends Selection {
  readonly groups: readonly Group[]
  /** Counts also the distinct combinations of these fields; empty counts events only. */
  readonly distinct: readonly Field[]
  /** Most groups in the answer. */
  readonly limit: number
}
