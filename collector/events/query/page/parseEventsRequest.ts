import { type Static, Type } from 'typebox'
import { fieldsAt, type Tier } from '../../../../schemas/fields.ts'
import type { RequestedScope } from '../../../api/access/policy.ts'
import { strictObject } from '../../../api/http/commonSchemas.ts'
import { questionOf, requireSameQuestion } from '../../../api/http/cursorQuestion.ts'
import { invalidParameter } from '../../../api/http/errors.ts'
import { FilterText, readFilters } from '../filter/filter.ts'
import type { Selection } from '../filter/selection.ts'
import { type Order, OrderName } from '../order.ts'
import { readScope, type ScopedRequest, scopeQuery } from '../scopeQuery.ts'
import { isAboutSessions } from '../sessions.ts'
import { SourceName, sourceOf } from '../source.ts'
import {
  instantMsMax,
  readWindow,
  type Window,
  type WindowParameters,
  windowQuery,
} from '../window/window.ts'
import { csvFormulas } from './csvFormulas.ts'
import { type Cursor, CursorOfEvents } from './cursor.ts'
import type { CursorPlan } from './eventsPlan.ts'
import { Distinct, readFields, Select } from './fieldList.ts'

/** The tier of routes without their own tier: every field. */
export const everyTier: Tier = 'resolution_full_profile'

/** A plan without its scope, and the scope parameters of the request. */
export interface ParsedRequest<Plan extends Selection> {
  readonly requestedScope: RequestedScope
  readonly plan: Omit<Plan, 'scope'>
}

const limitDefault = 100
export const limitMax = 10_000

/** The parameters of GET /api/v3/events/{tier}. */
export const EventsQuery = strictObject({
  ...scopeQuery,
  ...windowQuery,
  source: Type.Optional(SourceName),
  filter: Type.Optional(FilterText),
  distinct: Type.Optional(Distinct),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limitMax,
      default: limitDefault,
      description: 'Maximum number of rows in a page. An archive exports all events.',
    }),
  ),
  select: Type.Optional(Select),
  order: Type.Optional(OrderName),
  cursor: Type.Optional(CursorOfEvents),
  csv_formulas: Type.Optional(csvFormulas('keep')),
})
export type EventsQuery = Static<typeof EventsQuery>

/** Reads a request for a page of events at `tier`. Throws 400 that names the parameter. */
export function parseEventsRequest(
  request: ScopedRequest<EventsQuery>,
  tier: Tier,
  nowMs: number,
  readCursor: (cursor: string) => Cursor,
): ParsedRequest<CursorPlan> {
  const { query } = request
  const cursor = query.cursor === undefined ? null : readCursor(query.cursor)
  const order = readOrder(query.order, cursor)
  const selection = readSelection(query, tier)
  const { source, filters, distinct } = selection
  const question = questionOf([source, filters, distinct])
  if (cursor) requireSameQuestion(cursor, question, 'filter, distinct or source')
  if (order === 'received' && distinct.length > 0) {
    throw invalidParameter('distinct', 'cannot be combined with order=received, which has no end')
  }
  // The order of arrival has no sessions, because late events change them.
  if (order === 'received' && isAboutSessions(filters)) {
    throw invalidParameter('filter', 'must not name session fields with order=received')
  }
  const { start_ms, end_ms, start_time, end_time } = query
  const isWindowGiven = [start_ms, end_ms, start_time, end_time].some(
    (bound) => bound !== undefined,
  )
  return {
    requestedScope: readScope(request),
    plan: {
      ...selection,
      window: cursor && !isWindowGiven ? cursor.window : readOrderedWindow(query, nowMs, order),
      hasAllColumns: query.select === undefined,
      escapesFormulas: query.csv_formulas === 'escape',
      columns:
        query.select === undefined ? fieldsAt(tier) : readFields('select', query.select, tier),
      limit: query.limit ?? limitDefault,
      offset: 0,
      cursor,
      question,
      order,
    },
  }
}

/** Reads the common parts of every request for events, in any form of scope and window. */
export function readSelection(
  query: Pick<EventsQuery, 'source' | 'campaign_id' | 'filter' | 'distinct'> & {
    group_by?: string
  },
  tier: Tier,
) {
  const filters = query.filter === undefined ? [] : readFilters(query.filter, tier)
  const distinct = query.distinct === undefined ? [] : readFields('distinct', query.distinct, tier)
  const source = sourceOf(query, [...filters.flatMap(({ field }) => field ?? []), ...distinct])
  return { source, filters, distinct }
}

/** A feed never ends, unless the request has an end. */
function readOrderedWindow(query: WindowParameters, nowMs: number, order: Order): Window {
  const window = readWindow(query, nowMs)
  const isEndGiven = query.end_ms !== undefined || query.end_time !== undefined
  return order === 'received' && !isEndGiven ? { ...window, endMs: instantMsMax } : window
}

/** Returns the order of a page; a later page keeps the order of the first. */
function readOrder(order: Order | undefined, cursor: Cursor | null): Order {
  if (order === undefined) return cursor?.order ?? 'desc'
  if (cursor && cursor.order !== order) {
    throw invalidParameter('order', `must be order=${cursor.order}, like the cursor`)
  }
  return order
}
