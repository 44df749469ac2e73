import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import type { Static } from 'typebox'
import { contentTypeOf, type Format, negotiateFormat } from '../../api/http/negotiateFormat.ts'
import { plainSerializer } from '../../api/http/serialization.ts'
import { streamOf } from '../../api/http/streamOf.ts'
import { type ChargedMeta, chargedMeta } from '../../billing/chargedMeta.ts'
import { chargedRoute } from '../../billing/chargedRoute.ts'
import { meterOfTier } from '../../billing/meters.ts'
import type { ReadDeps } from '../query/deps.ts'
import { readRecordHashes } from '../query/recordHashes.ts'
import { rowsAlone } from '../routes.ts'
import { readVisitorsRequest, type VisitorsPlan, visitorTiers } from './plan.ts'
import { describeVisitors } from './schemas.ts'
import { readVisitors, type Visitors } from './visitors.ts'

/** GET /api/v3/events/{tier}/visitors: one row for each identified visitor, charged once a request. */
export const visitorsRoutes =
  (deps: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.setSerializerCompiler(plainSerializer)
    const shared = {
      config: {
        access: {
          to: 'key',
          projectKeys: 'own project',
          keyRole: 'read',
          limit: 'events',
          members: true,
        },
        charged: true,
      },
    } as const

    for (const tier of visitorTiers) {
      const schema = describeVisitors(tier)
      app.get(
        `/api/v3/events/${tier}/visitors`,
        { schema, ...shared },
        chargedRoute(deps.billing, schema, async (request, reply) => {
          const { principal } = request
          const { asked, plan: unscoped } = readVisitorsRequest(request, tier)
          const format = negotiateFormat(request.headers.accept)
          const scope = await deps.scopeOf(principal, asked, 'identity')
          const plan = { ...unscoped, scope, sampleNames: request.sampleNames }
          return {
            meter: meterOfTier[tier],
            projectId: plan.scope.projectId,
            recordsMax: plan.limit,
            async read({ signal }) {
              const { window } = plan
              const reader = deps.openReader(principal, { effort: 'page', signal, window })
              const visitors = await readVisitors(reader, plan, format)
              return {
                records: visitors.records,
                rows: visitors.rows,
                window,
                hashes: async () => readRecordHashes(reader, await visitors.keysQuery()),
                answer: (charged, rows) =>
                  answer(reply, {
                    plan,
                    visitors,
                    rows,
                    format,
                    meta: chargedMeta(meterOfTier[tier], visitors.records, charged),
                  }),
              }
            },
          }
        }),
      )
    }
  }

interface VisitorsAnswer {
  plan: VisitorsPlan
  visitors: Omit<Visitors, 'rows' | 'keysQuery'>
  rows: AsyncIterable<Buffer>
  format: Format
  meta: Static<typeof ChargedMeta>
}

function answer(reply: FastifyReply, { plan, visitors, rows, format, meta }: VisitorsAnswer) {
  const { records, hasPartialData } = visitors
  reply.header('content-type', contentTypeOf(format)).header('vary', 'accept')
  if (format === 'json') return reply.send(streamOf(jsonBody()))
  reply
    .header('x-footfall-records', records)
    .header('x-footfall-has-partial-data', String(hasPartialData))
  return reply.send(streamOf(rowsAlone(plan.columns, records, rows, format)))

  async function* jsonBody() {
    yield '{"visitors":['
    yield* rows
    yield `],"count":${records},"has_partial_data":${hasPartialData},"meta":${JSON.stringify(meta)}}`
  }
}
