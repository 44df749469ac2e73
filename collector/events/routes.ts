import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { typesOf } from '../../schemas/events/index.ts'
import {
  type Field,
  fields,
  publicField,
  selectableAt,
  type Tier,
  tiers,
} from '../../schemas/fields.ts'
import {
  contentTypeOf,
  type Format,
  isTable,
  negotiateFormat,
} from '../api/http/negotiateFormat.ts'
import { plainSerializer } from '../api/http/serialization.ts'
import { untilClosed } from '../api/http/streaming.ts'
import { streamOf } from '../api/http/streamOf.ts'
import { chargedRoute } from '../billing/chargedRoute.ts'
import { meterOfTier } from '../billing/meters.ts'
import { createCompleteUntil, feedEnd, readableWindow } from './query/completeUntil.ts'
import { countsAnswer, readCounts } from './query/counts.ts'
import { readCountsRequest } from './query/countsPlan.ts'
import type { Cursor } from './query/cursor.ts'
import type { ReadDeps } from './query/deps.ts'
import { readEventsRequest } from './query/plan.ts'
import { readPage } from './query/readPage.ts'
import { readRecordHashes } from './query/recordHashes.ts'
import { readScope } from './query/scopeQuery.ts'
import type { EventsPlan } from './query/selection.ts'
import { describeCounts, describeEvents, describeSchema } from './schemas.ts'

/** The tier whose events are counted (spec: counts exist for web_event only). */
const countsTier: Tier = 'web_event'

/** Events, version 3: pages of events, their counts, and the fields they have. */
export const eventsRoutes =
  (deps: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.setSerializerCompiler(plainSerializer)
    const cursors = deps.cursors<Cursor>('events')
    const completeUntil = createCompleteUntil(deps.postgres, deps.now)
    const config = {
      access: {
        to: 'key',
        projectKeys: 'own project',
        keyRole: 'read',
        limit: 'events',
        members: true,
      },
    } as const

    for (const tier of tiers) {
      const schema = describeEvents(tier)
      app.get(
        `/api/v3/events/${tier}`,
        { schema, config: { ...config, charged: true } },
        chargedRoute(deps.billing, schema, async (request, reply) => {
          const { principal } = request
          const { asked, plan: unscoped } = readEventsRequest(request, tier, Date.now(), (cursor) =>
            cursors.read(principal.organizationId, cursor),
          )
          const format = negotiateFormat(request.headers.accept)
          const scope = await deps.scopeOf(principal, asked, actionOf(tier))
          const complete = await completeUntil(principal)
          const readable = readableWindow(unscoped, complete)
          return {
            meter: meterOfTier[tier],
            projectId: scope.projectId,
            recordsMax: unscoped.limit,
            async read({ signal, window = readable }) {
              const reader = deps.openReader(principal, {
                effort: 'page',
                signal,
                window: readable,
              })
              const { sampleNames } = request
              const plan = { ...unscoped, scope, window, sampleNames, completeUntil: complete }
              const page = await readPage(reader, plan, format)
              const end = plan.order === 'received' ? feedEnd(plan, unscoped.window, window) : null
              const following = plan.order === 'received' ? unscoped.window : window
              return {
                records: page.records,
                rows: page.rows,
                window,
                hashes: async () => readRecordHashes(reader, page.keysQuery()),
                answer(charged, rows) {
                  const nextCursor = () => {
                    const from = page.next() ?? end
                    const place = from && { order: plan.order, from, window: following }
                    return place && cursors.write(principal.organizationId, place)
                  }
                  const { records, hasMore } = page
                  return answer(request, reply, {
                    tier,
                    plan,
                    rows,
                    records,
                    format,
                    charged,
                    hasMore,
                    nextCursor,
                    complete,
                  })
                },
              }
            },
          }
        }),
      )

      app.get(
        `/api/v3/events/${tier}/schema`,
        { schema: describeSchema(tier), config },
        async (request) => {
          await deps.scopeOf(request.principal, readScope(request))
          return {
            fields: selectableAt(tier).map(publicField),
            event_types: typesOf(request.query.source ?? null),
          }
        },
      )
    }

    app.get('/api/v3/events_schema', { schema: describeSchema(null), config }, async (request) => {
      await deps.scopeOf(request.principal, readScope(request))
      return { fields: fields.map(publicField), event_types: typesOf(request.query.source ?? null) }
    })

    app.get(
      `/api/v3/events/${countsTier}/counts`,
      { schema: describeCounts(countsTier), config },
      async (request, reply) => {
        const { principal } = request
        const { asked, plan: unscoped } = readCountsRequest(request, Date.now())
        const plan = { ...unscoped, scope: await deps.scopeOf(principal, asked) }
        const counts = await readCounts(
          deps.openReader(principal, {
            effort: 'scan',
            signal: untilClosed(reply),
            window: plan.window,
          }),
          plan,
        )
        return countsAnswer(counts, plan, request.id)
      },
    )
  }

const actionOf = (tier: Tier) => (tier === 'web_event' ? 'read' : 'identity')

interface EventsAnswer {
  tier: Tier
  plan: EventsPlan
  rows: AsyncIterable<Buffer>
  records: number
  hasMore: boolean
  format: Format
  /** Records charged. */
  charged: number
  /** Where the next page begins, once all rows have been handed over; null when this is the last. */
  nextCursor: () => string | null
  /** Up to when all that was received is there, epoch milliseconds. */
  complete: number | null
}

function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  { tier, plan, rows, records, format, charged, hasMore, nextCursor, complete }: EventsAnswer,
) {
  reply.header('content-type', contentTypeOf(format)).header('vary', 'accept')
  const completeUntilText = complete === null ? null : new Date(complete).toISOString()
  if (format === 'json') return reply.send(streamOf(jsonBody()))

  const cursor = nextCursor()
  if (completeUntilText) reply.header('x-footfall-complete-until', completeUntilText)
  reply.header('x-footfall-records', records).header('x-footfall-has-more', String(hasMore))
  if (cursor) reply.header('x-footfall-next-cursor', cursor)
  return reply.send(streamOf(rowsAlone(plan.columns, records, rows, format)))

  async function* jsonBody() {
    yield '{"rows":['
    yield* rows
    const cursor = nextCursor()
    const meta = {
      tier,
      meter: meterOfTier[tier],
      records,
      charged,
      start_ms: plan.window.startMs,
      end_ms: plan.window.endMs,
      order: plan.order,
      complete_until: completeUntilText,
      has_more: hasMore,
      ...(cursor && { next_cursor: cursor }),
      request_id: request.id,
    }
    yield `],"meta":${JSON.stringify(meta)}}`
  }
}

/** The body of an answer that is rows alone: a table, NDJSON, or CSV with a line of names before them. */
export async function* rowsAlone(
  columns: readonly Field[],
  records: number,
  rows: AsyncIterable<Buffer>,
  format: Format,
) {
  if (format === 'csv') yield `${columns.map(({ name }) => `"${name}"`).join(',')}\n`
  yield* rows
  if (records > 0 && !isTable(format)) yield '\n'
}
