import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { Choice, Id, Nullable, strictObject, Timestamp } from '../api/http/commonSchemas.ts'
import { untilClosed } from '../api/http/streaming.ts'
import { createCompleteUntil } from './query/completeUntil.ts'
import type { ReadDeps } from './query/readDeps.ts'
import { placeQuery, readScope } from './query/scopeQuery.ts'
import {
  readDropSettings,
  readDuplicates,
  readOptedOut,
  readRejections,
  readStored,
} from './trace.ts'

const PixelId = Nullable(Id, { description: 'Null for a DSP event.' })

const StoredEvent = Type.Object({
  project_id: Id,
  pixel_id: PixelId,
  source: Type.String(),
  event_type: Type.String(),
  timestamp: Timestamp,
  received_at: Timestamp,
  is_bot: Type.Boolean(),
  opted_out: Type.Boolean({ description: 'True when this browser opted out after it.' }),
  resolved: Type.Boolean({ description: 'True when its visitor is known now.' }),
})

const reasons = [
  'on_its_way',
  'bot_dropped',
  'ignored',
  'opted_out',
  'deleted',
  'never_arrived',
] as const

const EventTrace = Type.Object(
  {
    event_id: Type.String(),
    outcome: Choice(['stored', 'rejected', 'not_found']),
    stored: Type.Array(StoredEvent, {
      description:
        'The event, once in each project that has it: sent again, the same id is the same event.',
    }),
    rejections: Type.Array(
      Type.Object({
        received_at: Timestamp,
        project_id: Id,
        pixel_id: Id,
        event_type: Nullable(Type.String()),
        path: Type.String({ description: 'JSON pointer to what is wrong with the event.' }),
        message: Type.String(),
      }),
      {
        description:
          'Each time that an event of this id was rejected in the last thirty days, the latest first.',
      },
    ),
    duplicates: Type.Array(
      Type.Object({ received_at: Timestamp, project_id: Id, pixel_id: PixelId }),
      {
        description:
          'Each time in the last thirty days that the event came again, as pages send it when an answer was lost, and was ' +
          'left out, the latest first.',
      },
    ),
    possible_reasons: Type.Array(Choice(reasons), {
      description:
        'The possible reasons why an event is not found. on_its_way: it is not stored yet. bot_dropped: a pixel drops ' +
        'the events of bots. ignored: a project ignores the network, host or path of the event. opted_out: the visitor ' +
        'has opted out. deleted: it was deleted, or rejected more than thirty days ago. never_arrived: the collector ' +
        'did not receive it.',
    }),
    complete_until: Nullable(Timestamp, { description: 'What was received before is stored.' }),
    request_id: Type.String(),
  },
  { title: 'EventTrace' },
)

/** GET /api/v1/events/{event_id}/trace: what happened to an event. */
export const traceRoute =
  (deps: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const completeUntil = createCompleteUntil(deps.postgres, deps.now)
    app.get(
      '/api/v1/events/:event_id/trace',
      {
        schema: {
          tags: ['Events'],
          operationId: 'traceEvent',
          summary: 'Trace what happened to an event',
          description:
            'Whether the event of this id was stored or rejected, and why; whether it came again; whether its visitor is a ' +
            'bot, has opted out, is known. Never billed, so nothing of what the event says: read that from the events.',
          params: strictObject({ event_id: Type.String({ minLength: 1, maxLength: 100 }) }),
          querystring: strictObject(placeQuery),
          response: { 200: EventTrace },
        },
        config: {
          access: {
            to: 'key',
            projectKeys: 'own project',
            keyRole: 'read',
            limit: 'events',
            members: true,
          },
        },
      },
      async (request, reply) => {
        const { principal, params } = request
        const eventId = params.event_id
        const scope = await deps.scopeOf(principal, readScope(request))
        const complete = await completeUntil(principal)
        const queryExecutor = deps.openQueryExecutor(principal, {
          effort: 'scan',
          signal: untilClosed(reply),
        })
        const [found, rejections, duplicates] = await Promise.all([
          readStored(queryExecutor, scope, eventId),
          readRejections(queryExecutor, scope, eventId),
          readDuplicates(queryExecutor, scope, eventId),
        ])
        const optedOut = await readOptedOut(
          deps.postgres,
          scope,
          found.map(({ cookie_id }) => cookie_id),
        )
        const stored = found.map(({ cookie_id, ...event }) => ({
          ...event,
          opted_out: optedOut.has(cookie_id),
        }))
        const outcome =
          stored.length > 0 ? 'stored' : rejections.length > 0 ? 'rejected' : 'not_found'
        return {
          ...({ event_id: eventId, outcome, stored, rejections, duplicates } as const),
          possible_reasons:
            outcome === 'not_found' ? reasonsFor(await readDropSettings(deps.postgres, scope)) : [],
          complete_until: complete === null ? null : new Date(complete).toISOString(),
          request_id: request.id,
        }
      },
    )
  }

const reasonsFor = ({ dropsBots, ignoresTraffic }: Awaited<ReturnType<typeof readDropSettings>>) =>
  reasons.filter(
    (reason) => (reason !== 'bot_dropped' || dropsBots) && (reason !== 'ignored' || ignoresTraffic),
  )
