import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { eventsAccess } from '../../api/access/recordAccess.ts'
import { isFile, negotiateFormat } from '../../api/http/negotiateFormat.ts'
import { plainSerializer } from '../../api/http/serialization.ts'
import { ChargedMeta, chargedMeta } from '../../billing/chargedMeta.ts'
import { admit, settle } from '../../billing/chargedRequest.ts'
import { meterOfTier } from '../../billing/meters.ts'
import { pageIn } from '../eventSchemas.ts'
import { sendRows } from '../query/page/sendRows.ts'
import type { ReadDeps } from '../query/readDeps.ts'
import { eventRows, tierNames } from '../rowSchemas.ts'
import { readVisitors } from './visitors.ts'
import {
  readVisitorsRequest,
  VisitorsQuery,
  type VisitorTier,
  visitorTiers,
} from './visitorsRequest.ts'

/** GET /api/v3/events/{tier}/visitors: one row for each identified visitor, charged once a request. */
export const visitorsRoutes =
  (deps: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.setSerializerCompiler(plainSerializer)
    const shared = {
      config: {
        access: eventsAccess,
        charged: true,
      },
    } as const

    for (const tier of visitorTiers) {
      const meter = meterOfTier[tier]
      app.get(
        `/api/v3/events/${tier}/visitors`,
        { schema: describeVisitors(tier), ...shared },
        async (request, reply) => {
          const { principal, sampleNames } = request
          const { requestedScope, plan: draftPlan } = readVisitorsRequest(request, tier)
          const format = negotiateFormat(request.headers.accept)
          const scope = await deps.scopeOf(principal, requestedScope, 'identity')
          const plan = { ...draftPlan, scope, sampleNames }

          const admitted = await admit(deps.billing, request, reply, {
            meter,
            projectId: scope.projectId,
            recordsMax: plan.limit,
          })

          const { signal } = admitted
          const { window } = plan
          const queryExecutor = deps.openQueryExecutor(principal, {
            effort: 'page',
            signal,
            window,
          })
          const visitors = await readVisitors(queryExecutor, plan, format, admitted)

          const { charged, rows } = await settle(admitted, {
            ...visitors,
            isDownload: isFile(format),
          })

          const { records, hasPartialData } = visitors
          return sendRows(reply, {
            format,
            columns: plan.columns,
            records,
            rows,
            member: 'visitors',
            after: () => ({
              count: records,
              has_partial_data: hasPartialData,
              meta: chargedMeta(meter, records, charged),
            }),
            headers: () => ({
              'x-footfall-records': records,
              'x-footfall-has-partial-data': String(hasPartialData),
            }),
          })
        },
      )
    }
  }

/** The cheapest tier has the name without a suffix, as for events. */
const nameOf = (tier: VisitorTier) => (tier === visitorTiers[0] ? '' : tierNames[tier])

/** GET /api/v3/events/{tier}/visitors. */
const describeVisitors = (tier: VisitorTier) => {
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
