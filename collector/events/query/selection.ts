import type { Field } from '../../../schemas/fields.ts'
import type { Scope } from '../../api/access/policy.ts'
import type { SampleNames } from '../../api/access/sandboxTenant.ts'
import type { Cursor, RowKey } from './cursor.ts'
import type { Filter } from './filter.ts'
import type { Group } from './groupBy.ts'
import type { Order } from './order.ts'
import type { Source } from './source.ts'
import type { Window } from './window.ts'

/** Whether a read has the events of bots (`is_bot`), or these alone. */
export type Bots = 'included' | 'excluded' | 'only'

/** Which events a read is about. The scope comes from the principal, never from the request alone. */
export interface Selection {
  readonly scope: Scope
  /** Null reads both, or what else of the selection decides. */
  readonly source: Source | null
  readonly window: Window
  readonly filters: readonly Filter[]
  /** Filters on fields of sessions (sessionFields.ts): events of the sessions that meet them. */
  readonly sessionFilters?: readonly Filter[]
  /** Absent: included. */
  readonly bots?: Bots
}

/** A page of events. */
export interface EventsPlan extends Selection {
  /** In the order of the answer. */
  readonly columns: readonly Field[]
  /** True when nothing was selected: the columns are all of the tier. */
  readonly hasAllColumns: boolean
  /** In CSV, texts that a spreadsheet would run are escaped. */
  readonly escapesFormulas?: boolean
  /** The ids that a test key sees instead of the sample's. */
  readonly sampleNames?: SampleNames | null
  /** Of the events that share these fields only the newest is returned; empty returns all. */
  readonly distinct: readonly Field[]
  readonly limit: number
  /** How many rows to pass over (versions 1 and 2); not together with a cursor. */
  readonly offset: number
  readonly cursor: Cursor | null
  /** The first row that is not of the page, where it is known. */
  readonly until?: RowKey
  /** Rows that are further than so many milliseconds from where the page begins are left out: see estimateSpan. */
  readonly spanMs?: number | undefined
  /** Time until which the answer reports to be complete, epoch milliseconds; null if unknown. */
  readonly completeUntil?: number | null
  /** Nothing is asked beforehand that would spare reading. */
  readonly isForEstimate?: true
  readonly order: Order
}

/** Counts of events. */
export interface CountsPlan extends Selection {
  readonly groups: readonly Group[]
  /** Distinct combinations of these fields are counted too; empty counts events only. */
  readonly distinct: readonly Field[]
  /** Most groups in the answer. */
  readonly limit: number
}
