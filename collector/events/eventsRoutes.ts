import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { typesOf } from '../../schemas/events/index.ts'
import { fields, publicField, selectableAt, type Tier, tiers } from '../../schemas/fields.ts'
import { eventsAccess } from '../api/access/recordAccess.ts'
import { isFile, negotiateFormat } from '../api/http/negotiateFormat.ts'
import { plainSerializer } from '../api/http/serialization.ts'
import { untilClosed } from '../api/http/streaming.ts'
import { admit, settle } from '../billing/chargedRequest.ts'
import { type Meter, meterOfTier } from '../billing/meters.ts'
import { describeCounts, describeEvents, describeSchema } from './eventSchemas.ts'
import { countsAnswer, readCounts } from './query/counts/counts.ts'
import { readCountsRequest } from './query/counts/countsPlan.ts'
import type { Cursor, RowKey } from './query/page/cursor.ts'
import type { CursorPlan, EventsPlan } from './query/page/eventsPlan.ts'
import { parseEventsRequest } from './query/page/parseEventsRequest.ts'
import { readPage } from './query/page/readPage.ts'
import { sendRows } from './query/page/sendRows.ts'
import type { ReadDeps } from './query/readDeps.ts'
import { readScope } from './query/scopeQuery.ts'
import { createCompleteUntil, readableWindow } from './query/window/completeUntil.ts'
import type { Window } from './query/window/window.ts'

/** The tier whose events are counted (spec: counts exist for web_event only). */
const countsTier: Tier = 'web_event'

/**
 * Events, version 3: pages of events, their counts, and their fields. The steps of a page:
 *
 * - guard.ts has authenticated the caller: `request.principal`.
 * - parseEventsRequest turns the parameters into a plan without a scope, or throws 400.
 * - scopeOf, completeUntil and readableWindow decide which events the caller may read, and until when they
 * are complete.
 * - admit checks whether the caller can be charged for `limit` records: 402, 429.
 * - readPage runs the query. It returns bytes of rows that are not read yet, and their number.
 * - settle charges that number and releases the rows.
 * - sendRows sends them. `after` and `headers` give the metadata of JSON and other formats.
 */
export const eventsRoutes =
  (deps: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.setSerializerCompiler(plainSerializer)
    const cursors = deps.cursors<Cursor>('events')
    const completeUntil = createCompleteUntil(deps.postgres, deps.now)
    const config = {
      access: eventsAccess,
    } as const

    for (const tier of tiers) {
      const meter = meterOfTier[tier]
      app.get(
        `/api/v3/events/${tier}`,
        { schema: describeEvents(tier), config: { ...config, charged: true } },
        async (request, reply) => {
          const { principal, sampleNames } = request
          const { organizationId } = principal
          const { requestedScope, plan: draftPlan } = parseEventsRequest(
            request,
            tier,
            Date.now(),
            (cursor) => cursors.read(organizationId, cursor),
          )
          const format = negotiateFormat(request.headers.accept)
          const scope = await deps.scopeOf(principal, requestedScope, actionOf(tier))
          const complete = await completeUntil(principal)
          const readable = readableWindow(draftPlan, complete)

          const admitted = await admit(deps.billing, request, reply, {
            meter,
            projectId: scope.projectId,
            recordsMax: draftPlan.limit,
          })

          const { signal, repeatedWindow: window = readable } = admitted
          const plan = { ...draftPlan, scope, window, sampleNames, completeUntil: complete }
          const queryExecutor = deps.openQueryExecutor(principal, {
            effort: 'page',
            signal,
            window,
          })
          const page = await readPage(queryExecutor, plan, format, admitted)

          const { charged, rows } = await settle(admitted, { ...page, isDownload: isFile(format) })

          const { records, hasMore } = page
          const nextCursor = () => {
            const next = cursorAfter(plan, draftPlan.window, page.next())
            return next && cursors.write(organizationId, next)
          }
          return sendRows(reply, {
            format,
            columns: plan.columns,
            records,
            rows,
            member: 'rows',
            after: () => ({
              meta: metaOf(plan, {
                tier,
                meter,
                records,
                charged,
                hasMore,
                cursor: nextCursor(),
                requestId: request.id,
              }),
            }),
            headers() {
              const cursor = nextCursor()
              const completeText = isoOrNull(complete)
              return {
                ...(completeText && { 'x-footfall-complete-until': completeText }),
                'x-footfall-records': records,
                'x-footfall-has-more': String(hasMore),
                ...(cursor && { 'x-footfall-next-cursor': cursor }),
              }
            },
          })
        },
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
        const { requestedScope, plan: draftPlan } = readCountsRequest(request, Date.now())
        const plan = { ...draftPlan, scope: await deps.scopeOf(principal, requestedScope) }
        const counts = await readCounts(
          deps.openQueryExecutor(principal, {
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

const firstId = '00000000-0000-0000-0000-000000000000'

/**
 * Returns the start of the next page, or null after the last page. `next` is the key of the first row after
 * this page. `requested` is the window of the request; a feed reads only the complete part of it.
 */
function cursorAfter(plan: CursorPlan, requested: Window, next: RowKey | null): Cursor | null {
  const { order, question, window } = plan
  const isFeed = order === 'received'
  const from = next ?? (isFeed ? feedEnd(plan, requested) : null)
  return from && { order, from, window: isFeed ? requested : window, question }
}

/** Where a feed continues after all complete events; null at the end of the window. */
function feedEnd({ cursor, window }: EventsPlan, requested: Window): RowKey | null {
  if (window.endMs >= requested.endMs) return null
  // The complete part may have become shorter, if ClickHouse lost rows in a crash.
  return cursor && cursor.from.millis >= window.endMs
    ? cursor.from
    : { millis: window.endMs, eventId: firstId }
}

/** Epoch milliseconds as ISO 8601; null without a time. */
const isoOrNull = (millis: number | null): string | null =>
  millis === null ? null : new Date(millis).toISOString()

/** Returns the metadata of a page of events. `cursor` is the one of the next page, or null. */
const metaOf = (
  { window, order, completeUntil = null }: Pick<EventsPlan, 'window' | 'order' | 'completeUntil'>,
  page: {
    readonly tier: Tier
    readonly meter: Meter
    readonly records: number
    readonly charged: number
    readonly hasMore: boolean
    readonly cursor: string | null
    readonly requestId: string
  },
) => ({
  tier: page.tier,
  meter: page.meter,
  records: page.records,
  charged: page.charged,
  start_ms: window.startMs,
  end_ms: window.endMs,
  order,
  complete_until: isoOrNull(completeUntil),
  has_more: page.hasMore,
  ...(page.cursor && { next_cursor: page.cursor }),
  request_id: page.requestId,
})
