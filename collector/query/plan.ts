import { type Static, Type } from 'typebox'
import { type Field, fieldsAt, type Tier } from '../../schemas/fields.ts'
import type { SampleNames } from '../access/sampleView.ts'
import type { RequestedScope, Scope } from '../access/scope.ts'
import { invalidParameter } from '../http/errors.ts'
import { exactly } from '../http/schemas.ts'
import { CsvFormulas } from './csvFormulas.ts'
import { type Cursor, CursorOfEvents, type RowKey } from './cursor.ts'
import { Distinct, readFields, Select } from './fieldList.ts'
import { type Filter, FilterText, readFilters } from './filter.ts'
import type { Group } from './groupBy.ts'
import { type Order, OrderName } from './order.ts'
import { readScope, type ScopedRequest, scopeQuery } from './scopeQuery.ts'
import { isAboutSessions } from './sessions.ts'
import { type Source, SourceName, sourceOf } from './source.ts'
import { instantMsMax, readWindow, type Window, type WindowParameters, windowQuery } from './window.ts'

/** What a route that has no tier of its own knows: every field. */
export const everyTier: Tier = 'resolution_full_profile'

/** Which events a read is about. The scope comes from the principal, never from the request alone. */
export interface Selection {
  readonly scope: Scope
  /** Null reads both, or what else of the selection decides. */
  readonly source: Source | null
  readonly window: Window
  readonly filters: readonly Filter[]
}

/** A page of events. */
export interface EventsPlan extends Selection {
  /** In the order of the answer. */
  readonly columns: readonly Field[]
  /** True when nothing was selected: the columns are all of the tier. */
  readonly hasAllColumns: boolean
  /** In CSV, texts that a spreadsheet would run are escaped. */
  readonly escapesFormulas?: boolean
  /** The ids that a test key is shown in the place of the sample's. */
  readonly sampleNames?: SampleNames | null
  /** Of the events that share these fields only the newest is returned; empty returns all. */
  readonly distinct: readonly Field[]
  readonly limit: number
  /** How many rows to pass over (versions 1 and 2); not together with a cursor. */
  readonly offset: number
  readonly cursor: Cursor | null
  /** The first row that is not of the page, where it is known. */
  readonly until?: RowKey
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

/** A plan that still lacks its scope, and the scope parameters the request came with. */
export interface Asked<Plan extends Selection> {
  readonly asked: RequestedScope
  readonly plan: Omit<Plan, 'scope'>
}

const limitDefault = 100
export const limitMax = 10_000

/** The parameters of GET /api/v3/events/{tier}. */
export const EventsQuery = exactly({
  ...scopeQuery,
  ...windowQuery,
  source: Type.Optional(SourceName),
  filter: Type.Optional(FilterText),
  distinct: Type.Optional(Distinct),
  limit: Type.Optional(
    Type.Integer({
      ...{ minimum: 1, maximum: limitMax, default: limitDefault },
      description: 'Most rows of the page.',
    }),
  ),
  select: Type.Optional(Select),
  order: Type.Optional(OrderName),
  cursor: Type.Optional(CursorOfEvents),
  csv_formulas: Type.Optional(CsvFormulas),
})
export type EventsQuery = Static<typeof EventsQuery>

/**
 * Reads a request for a page of events at `tier`; `readCursor` reads what its cursor holds. Throws 400 that names the
 * parameter.
 */
export function readEventsRequest(
  request: ScopedRequest<EventsQuery>,
  tier: Tier,
  nowMs: number,
  readCursor: (cursor: string) => Cursor,
): Asked<EventsPlan> {
  const { query } = request
  const cursor = query.cursor === undefined ? null : readCursor(query.cursor)
  const order = readOrder(query.order, cursor)
  const selection = readSelection(query, tier)
  if (order === 'received' && selection.distinct.length > 0) {
    throw invalidParameter('distinct', 'cannot be combined with order=received, which never ends')
  }
  // What is read is not in the order of sessions, which late events change.
  if (order === 'received' && isAboutSessions(selection.filters)) {
    throw invalidParameter('filter', 'cannot ask for fields of sessions with order=received')
  }
  const { start_ms, end_ms, start_time, end_time } = query
  const isWindowGiven = [start_ms, end_ms, start_time, end_time].some((bound) => bound !== undefined)
  return {
    asked: readScope(request),
    plan: {
      ...selection,
      window: cursor && !isWindowGiven ? cursor.window : readOrderedWindow(query, nowMs, order),
      hasAllColumns: query.select === undefined,
      escapesFormulas: query.csv_formulas === 'escape',
      columns: query.select === undefined ? fieldsAt(tier) : readFields('select', query.select, tier),
      limit: query.limit ?? limitDefault,
      offset: 0,
      cursor,
      order,
    },
  }
}

/** What every read of events has, however its scope and its window are given. */
export function readSelection(
  query: Pick<EventsQuery, 'source' | 'campaign_id' | 'filter' | 'distinct'> & { group_by?: string },
  tier: Tier,
) {
  const filters = query.filter === undefined ? [] : readFilters(query.filter, tier)
  const distinct = query.distinct === undefined ? [] : readFields('distinct', query.distinct, tier)
  const source = sourceOf(query, [...filters.flatMap(({ field }) => field ?? []), ...distinct])
  return { source, filters, distinct }
}

/** A feed goes on for ever, unless its end is given. */
function readOrderedWindow(query: WindowParameters, nowMs: number, order: Order): Window {
  const window = readWindow(query, nowMs)
  const isEndGiven = query.end_ms !== undefined || query.end_time !== undefined
  return order === 'received' && !isEndGiven ? { ...window, endMs: instantMsMax } : window
}

/** The order of a page; a page that follows another is in the same one. */
function readOrder(order: Order | undefined, cursor: Cursor | null): Order {
  if (order === undefined) return cursor?.order ?? 'desc'
  if (cursor && cursor.order !== order) {
    throw invalidParameter('order', `differs from the cursor, which belongs to order=${cursor.order}`)
  }
  return order
}
