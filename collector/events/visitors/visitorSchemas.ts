import { Type } from 'typebox'
import { ChargedMeta } from '../../billing/chargedMeta.ts'
import { pageIn } from '../eventSchemas.ts'
import { eventRows, tierNames } from '../rowSchemas.ts'
import { VisitorsQuery, type VisitorTier, visitorTiers } from './visitorsRequest.ts'

/** The cheapest tier has the plain name, as with events. */
const nameOf = (tier: VisitorTier) => (tier === visitorTiers[0] ? '' : tierNames[tier])

/** GET /api/v3/events/{tier}/visitors. */
export const describeVisitors = (tier: VisitorTier) => {
  const row = Type.Intersect([eventRows[tier]], {
    title: `Visitor${nameOf(tier)}`,
    description: 'A visitor: the newest of their events in the window.',
  })
  return {
    tags: ['Events'],
    operationId: `listVisitors${nameOf(tier)}`,
    summary: `List identified visitors (${tier})`,
    description:
      'Each with the fields of its newest event in the window, most recent first. There is no paging: for earlier ' +
      'visitors take an earlier window. Each visitor returned is charged once per request, on the meter of the tier, with or ' +
      'without a profile. To return and pay for visitors with a profile only, add filter=has_profile:eq:true. ' +
      'Accept: application/x-ndjson and text/csv give the same rows as lines, application/vnd.apache.arrow.stream ' +
      'and application/vnd.apache.parquet as a table with types; what the JSON answer says beside them ' +
      'stands in the headers X-Footfall-Records and X-Footfall-Has-Partial-Data then. With every answer come ' +
      'X-Footfall-Charged and X-Footfall-Request-Id. A filter is about events: of those that meet it the newest counts.',
    querystring: VisitorsQuery,
    response: {
      200: pageIn(
        'The visitors.',
        Type.Object(
          {
            visitors: Type.Array(row),
            count: Type.Integer({ description: 'Rows returned.' }),
            has_partial_data: Type.Boolean({
              description:
                'True when part of the window could not be read: visitors may be missing.',
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
