import type { Field } from '../../../../schemas/fields.ts'
import type { SampleNames } from '../../../api/access/sandboxTenant.ts'
import type { Selection } from '../filter/selection.ts'
import type { Order } from '../order.ts'
import type { ExpectedRecords } from '../profiles/expectedRecords.ts'
import type { Cursor, RowKey } from './cursor.ts'

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
  /** Reads only these records, and fails if the person of one of them has changed. */
  readonly expected?: ExpectedRecords
}

export interface CursorPlan extends EventsPlan {
  /** Of the selection; cursors of another one are refused. */
  readonly question: string
}
