import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { eventsAccess } from '../../api/access/recordAccess.ts'
import { isFile, negotiateFormat } from '../../api/http/negotiateFormat.ts'
import { plainSerializer } from '../../api/http/serialization.ts'
import { chargedMeta } from '../../billing/chargedMeta.ts'
import { admit, settle } from '../../billing/chargedRequest.ts'
import { meterOfTier } from '../../billing/meters.ts'
import { sendRows } from '../query/page/sendRows.ts'
import type { ReadDeps } from '../query/readDeps.ts'
import { describeVisitors } from './visitorSchemas.ts'
import { readVisitors } from './visitors.ts'
import { readVisitorsRequest, visitorTiers } from './visitorsRequest.ts'

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
