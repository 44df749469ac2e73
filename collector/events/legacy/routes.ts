import { text } from 'node:stream/consumers'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { typesOf } from '../../../schemas/events/index.ts'
import { fields, publicField } from '../../../schemas/fields.ts'
import type { Effort, Reader } from '../../api/access/reader.ts'
import { contentTypeOf } from '../../api/http/negotiateFormat.ts'
import { plainSerializer } from '../../api/http/serialization.ts'
import { untilClosed } from '../../api/http/streaming.ts'
import { type ChargedRead, chargedRoute } from '../../billing/chargedRoute.ts'
import { countsAnswer, indexOf, readCounts } from '../query/counts.ts'
import type { ReadDeps } from '../query/deps.ts'
import { eventsQuery } from '../query/eventsQuery.ts'
import { requireFreeFilters } from '../query/freeAnswers.ts'
import type { Asked } from '../query/plan.ts'
import { nameProjects } from '../query/projects.ts'
import { pageKeysQuery } from '../query/readPage.ts'
import { readRecordHashes } from '../query/recordHashes.ts'
import { outputOf, rowForm } from '../query/rowForm.ts'
import type { EventsPlan, Selection } from '../query/selection.ts'
import {
  type LegacyEventsQuery,
  type LegacyVersion,
  readLegacyEvents,
  readNarrowestScope,
} from './legacy.ts'
import { decidingFields, meterOf, meterOfRows } from './meter.ts'
import { estimateScan } from './scanEstimate.ts'
import {
  describeLegacyEvents,
  describeScanEstimate,
  describeV1Counts,
  describeV1Index,
  describeV1Schema,
} from './schemas.ts'
import { readV1Counts, readV1Index, v1 } from './v1.ts'
import { v2 } from './v2.ts'

/** Events, versions 1 and 2: pages of at most 1,000 events, counts, their index, fields, and scan estimates. */
export const legacyRoutes =
  (deps: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.setSerializerCompiler(plainSerializer)
    const access = {
      to: 'key',
      projectKeys: 'own project',
      keyRole: 'read',
      limit: 'events',
    } as const
    const shared = { config: { access } } as const

    const readerOf = (
      { principal }: FastifyRequest,
      reply: FastifyReply,
      effort: Effort,
      { window }: Selection,
    ) => deps.openReader(principal, { effort, signal: untilClosed(reply), window })
    const scoped = async <Plan extends Selection>(
      { principal }: FastifyRequest,
      { asked, plan }: Asked<Plan>,
    ) => ({
      ...plan,
      scope: await deps.scopeOf(principal, asked),
    })

    const readPage =
      (version: LegacyVersion) =>
      async (
        request: FastifyRequest<{ Querystring: LegacyEventsQuery }>,
        reply: FastifyReply,
      ): Promise<ChargedRead> => {
        const legacy = readLegacyEvents(request, version)
        const asking = await scoped(request, legacy)
        // Without select the rows tell the meter: who may not even have the lowest it can be is refused before the work.
        const named = [...decidingFields(asking), ...(legacy.isSelected ? asking.columns : [])]
        const asked = meterOf(named)
        return {
          meter: asked,
          projectId: asking.scope.projectId,
          recordsMax: asking.limit,
          async read({ signal, window = asking.window }) {
            const reader = deps.openReader(request.principal, {
              effort: 'page',
              signal,
              window: asking.window,
            })
            const plan = await nameProjects(reader, { ...asking, window })
            const found = await readRows(reader, plan)
            const rows = found.slice(0, plan.limit)
            const meter = legacy.isSelected
              ? asked
              : meterOfRows(rows, { fields: plan.columns, named })
            const records = rows.length
            return {
              records,
              meter,
              window,
              hashes: () => readRecordHashes(reader, pageKeysQuery(plan)),
              answer(charged) {
                const meta = {
                  meter,
                  records,
                  charged,
                  start_ms: window.startMs,
                  end_ms: window.endMs - (version.includesEnd ? 1 : 0),
                  offset: plan.offset,
                  limit: plan.limit,
                  has_more: found.length > plan.limit,
                  request_id: request.id,
                }
                reply.type(contentTypeOf('json'))
                return `{"rows":[${rows.join(',')}],"meta":${JSON.stringify(meta)}}`
              },
            }
          },
        }
      }

    for (const [path, version] of [
      ['/api/v1/events', v1],
      ['/api/v2/events', v2],
    ] as const) {
      const config = { ...shared.config, charged: true } as const
      const schema = describeLegacyEvents(version)
      app.get(
        path,
        { ...shared, schema, config },
        chargedRoute(deps.billing, schema, readPage(version)),
      )
    }

    app.get(
      '/api/v1/events/scan_estimate',
      { schema: describeScanEstimate, config: { access: { ...access, members: true } } },
      async (request, reply) => {
        const read = readLegacyEvents(request, { ...v1, windowMsMax: null })
        requireFreeFilters(read.plan)
        const plan = await scoped(request, read)
        const { startMs, endMs } = plan.window
        return {
          estimate: await estimateScan(readerOf(request, reply, 'scan', plan), plan),
          meta: { start_ms: startMs, end_ms: endMs, request_id: request.id },
        }
      },
    )

    app.get(
      '/api/v1/event_counts',
      { schema: describeV1Counts, ...shared },
      async (request, reply) => {
        const plan = await scoped(request, readV1Counts(request))
        const counts = await readCounts(readerOf(request, reply, 'scan', plan), plan)
        return countsAnswer(counts, plan, request.id)
      },
    )

    app.get(
      '/api/v1/event_counts_index',
      { schema: describeV1Index, ...shared },
      async (request, reply) => {
        const read = readV1Index(request)
        const plan = await scoped(request, read)
        const counts = await readCounts(readerOf(request, reply, 'scan', plan), plan)
        const { counts: _, ...answer } = countsAnswer(counts, plan, request.id)
        return { interval: read.interval, index: indexOf(counts, read.interval), ...answer }
      },
    )

    app.get('/api/v1/events_schema', { schema: describeV1Schema, ...shared }, async (request) => {
      await deps.scopeOf(request.principal, readNarrowestScope(request))
      return {
        fields: fields.map((field) => ({ ...publicField(field), type: field.dataType })),
        event_types: typesOf(request.query.source ?? null),
      }
    })
  }

/**
 * Rows of a page, and one more when there are more, each the text of a JSON object with all columns of the plan: nothing
 * here needs their values but the meter.
 */
async function readRows(reader: Reader, plan: EventsPlan): Promise<string[]> {
  const ready = rowForm(plan, 'json', false, reader.clickhouse.shards.length === 1)
  const form = { ...ready, membersOfNobody: 'null' } as const
  const { body } = await reader.stream(eventsQuery(plan, form), outputOf(plan, 'json', form))
  return (await text(body)).split('\n').filter(Boolean)
}
