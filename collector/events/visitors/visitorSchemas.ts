import { Type } from 'typebox'
import { ChargedMeta } from '../../billing/chargedMeta.ts'
import { pageIn } from '../eventSchemas.ts'
import { eventRows, tierNames } from '../rowSchemas.ts'
import { VisitorsQuery, type VisitorTier, visitorTiers } from './visitorsRequest.ts'

/** The cheapest tier has the name without a suffix, as for events. */
const nameOf = (tier: VisitorTier) => (tier === visitorTiers[0] ? '' : tierNames[tier])

/** GET /api/v3/events/{tier}/visitors. */
export const describeVisitors = (tier: VisitorTier) => {
  const row = Type.Intersect([eventRows[tier]], {
    title: `Visitor${nameOf(tier)}`,
    description: 'A visitor: the newest event in the window.',
  })
  return {
    tags: ['Events'],
    operationId: `listVisitors${nameOf(tier)}`,
    summary: `List identified visitors (${tier})`,
    description:
      'Returns each identified visitor with the fields of the newest event in the window. Sorted by time, most recent ' +
      'first. There is no paging: for earlier visitors, request an earlier window. Charged once per visitor and ' +
      'request on the meter of the tier, with or without a profile. To pay only for visitors with a profile, add ' +
      'filter=has_profile:eq:true. Supported response types: application/json, application/x-ndjson, ' +
      'text/csv, application/vnd.apache.arrow.stream and application/vnd.apache.parquet. ' +
      'Types other than JSON report counts in the headers X-Footfall-Records and X-Footfall-Has-Partial-Data. All ' +
      'responses have X-Footfall-Charged and X-Footfall-Request-Id. Filters apply to events: the newest match counts.',
    querystring: VisitorsQuery,
    response: {
      200: pageIn(
        'The visitors.',
        Type.Object(
          {
            visitors: Type.Array(row),
            count: Type.Integer({ description: 'Number of rows returned.' }),
            has_partial_data: Type.Boolean({
              description: 'True if part of the window could not be read. Visitors may be missing.',
            }),
            meta: ChargedMeta,
          },
          { additionalProperties: false },
        ),
        row,
      ),
    },
  }
}
