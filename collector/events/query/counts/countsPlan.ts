import { type Static, Type } from 'typebox'
import type { Field } from '../../../../schemas/fields.ts'
import { strictObject } from '../../../api/http/commonSchemas.ts'
import { EventFilterText } from '../filter/filter.ts'
import type { Selection } from '../filter/selection.ts'
import { FieldList } from '../page/fieldList.ts'
import { limitMax, type ParsedRequest, readSelection } from '../page/parseEventsRequest.ts'
import { readScope, type ScopedRequest, scopeQuery } from '../scopeQuery.ts'
import { SourceName } from '../source.ts'
import { readWindow, windowQuery } from '../window/window.ts'
import { type Group, GroupBy, readGroups } from './groupBy.ts'

export interface CountsPlan extends Selection {
  readonly groups: readonly Group[]
  /** Counts also the distinct combinations of these fields; empty counts events only. */
  readonly distinct: readonly Field[]
  /** Most groups in the answer. */
  readonly limit: number
}

const limitDefault = 1000

const distinctText =
  'Comma-separated fields. Each group reports the number of their distinct combinations as `distinct`.'

/** The parameter `distinct` of counts of version 1. */
export const DistinctCounted = FieldList(
  `${distinctText} hem counts people, company_domain companies and cookie_id browsers; a missing value counts as one value.`,
)

/** The parameters of GET /api/v3/events/web_event/counts. */
export const CountsQuery = strictObject({
  ...scopeQuery,
  ...windowQuery,
  source: Type.Optional(SourceName),
  filter: Type.Optional(EventFilterText),
  distinct: Type.Optional(
    FieldList(`${distinctText} Event fields only: cookie_id counts browsers.`),
  ),
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
      ...readSelection(query, 'web_event'),
      window: readWindow(query, nowMs),
      groups: readGroups(query.group_by),
      limit: query.limit ?? limitDefault,
    },
  }
}
