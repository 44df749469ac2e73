import { type Static, Type } from 'typebox'
import { strictObject } from '../../api/http/commonSchemas.ts'
import { FieldList } from './fieldList.ts'
import { FreeFilterText } from './filter.ts'
import { freeFilters, requireFreeDistinct, requireFreeFilters } from './freeAnswers.ts'
import { GroupBy, readGroups } from './groupBy.ts'
import { everyTier, limitMax, type ParsedRequest, readSelection } from './parseEventsRequest.ts'
import { readScope, type ScopedRequest, scopeQuery } from './scopeQuery.ts'
import type { CountsPlan } from './selection.ts'
import { SourceName } from './source.ts'
import { readWindow, windowQuery } from './window.ts'

const limitDefault = 1000

/** The parameter `distinct` of counts. */
export const DistinctCounted = FieldList(
  'Comma-separated fields. Each group reports the number of their distinct combinations as `distinct`. Event fields ' +
    'only: cookie_id counts browsers. Counts of people and companies are not free. Read them from a visitors route.',
)

/** The parameters of GET /api/v3/events/web_event/counts. */
export const CountsQuery = strictObject({
  ...scopeQuery,
  ...windowQuery,
  source: Type.Optional(SourceName),
  filter: Type.Optional(FreeFilterText),
  distinct: Type.Optional(DistinctCounted),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limitMax,
      default: limitDefault,
      description:
        'Maximum number of groups. By hour or day the earliest are returned, otherwise the largest.',
    }),
  ),
  group_by: Type.Optional(GroupBy),
})

/** Reads a request for counts of events (version 3). Throws 400 that names the parameter. */
export function readCountsRequest(
  request: ScopedRequest<Static<typeof CountsQuery>>,
  nowMs: number,
): ParsedRequest<CountsPlan> {
  const { query } = request
  return {
    requestedScope: readScope(request),
    plan: {
      ...readFreeSelection(query),
      window: readWindow(query, nowMs),
      groups: readGroups(query.group_by),
      limit: query.limit ?? limitDefault,
    },
  }
}

/** Reads the selection of counts. Throws 400 that names the parameter. */
export function readFreeSelection(query: Parameters<typeof readSelection>[0]) {
  const selection = readSelection(query, everyTier)
  requireFreeFilters(selection)
  requireFreeDistinct(selection)
  return { ...selection, filters: freeFilters(selection.filters) }
}
