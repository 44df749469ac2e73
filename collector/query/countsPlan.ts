import { type Static, Type } from 'typebox'
import { fields, isIdentityField } from '../../schemas/fields.ts'
import { invalidParameter } from '../http/errors.ts'
import { exactly } from '../http/schemas.ts'
import { FieldList } from './fieldList.ts'
import { FreeFilterText } from './filter.ts'
import { GroupBy, readGroups } from './groupBy.ts'
import { type Asked, everyTier, limitMax, readSelection } from './plan.ts'
import { readScope, type ScopedRequest, scopeQuery } from './scopeQuery.ts'
import type { CountsPlan, EventsPlan } from './selection.ts'
import { SourceName } from './source.ts'
import { readWindow, windowQuery } from './window.ts'

const limitDefault = 1000

const countedFields = fields
  .filter(({ counts }) => counts === 'number')
  .map(({ name }) => name)
  .join(' and ')

/** The parameter `distinct` of counts. */
export const DistinctCounted = FieldList(
  'Comma-separated fields whose distinct combinations are counted in each group, as `distinct`: fields of events, ' +
    `and of identity fields ${countedFields}.`,
)

/** The parameters of GET /api/v3/events/web_event/counts. */
export const CountsQuery = exactly({
  ...scopeQuery,
  ...windowQuery,
  source: Type.Optional(SourceName),
  filter: Type.Optional(FreeFilterText),
  distinct: Type.Optional(DistinctCounted),
  limit: Type.Optional(
    Type.Integer({
      ...{ minimum: 1, maximum: limitMax, default: limitDefault },
      description: 'Most groups in the answer: the earliest where they are by hour or day, else the largest.',
    }),
  ),
  group_by: Type.Optional(GroupBy),
})

/** Reads a request for counts of events (version 3). Throws 400 that names the parameter. */
export function readCountsRequest(
  request: ScopedRequest<Static<typeof CountsQuery>>,
  nowMs: number,
): Asked<CountsPlan> {
  const { query } = request
  return {
    asked: readScope(request),
    plan: {
      ...readFreeSelection(query),
      window: readWindow(query, nowMs),
      groups: readGroups(query.group_by),
      limit: query.limit ?? limitDefault,
    },
  }
}

/** Reads what counts are about. Throws 400 that names the parameter. */
export function readFreeSelection(query: Parameters<typeof readSelection>[0]) {
  const selection = readSelection(query, everyTier)
  requireFree(selection)
  return selection
}

/**
 * Refuses what an unbilled answer must not be asked, for it would tell what is sold, if only whether somebody was
 * there: filters are on fields of events, `resolved` among them, and of identity fields only those are counted that
 * give a bare number away. Throws 400 that names the parameter and the field.
 */
export function requireFree({ filters, distinct }: Pick<EventsPlan, 'filters' | 'distinct'>): void {
  const filtered = filters.flatMap(({ field }) => field ?? []).find(isIdentityField)
  if (filtered) {
    throw invalidParameter(
      'filter',
      `"${filtered.name}" tells who a visitor is, which is not free: filter by fields of events, resolved among them`,
    )
  }
  const counted = distinct.find((field) => isIdentityField(field) && field.counts !== 'number')
  if (counted) {
    throw invalidParameter(
      'distinct',
      `"${counted.name}" tells who a visitor is, which is not free: of identity fields hem and company_domain are counted`,
    )
  }
}
