import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { eventsAccess } from '../api/access/recordAccess.ts'
import { Choice, Id, Nullable, strictObject, Timestamp } from '../api/http/commonSchemas.ts'
import { untilClosed } from '../api/http/streaming.ts'
import type { ReadDeps } from './query/readDeps.ts'
import { placeQuery, readScope } from './query/scopeQuery.ts'
import { createCompleteUntil } from './query/window/completeUntil.ts'
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
  opted_out: Type.Boolean({ description: 'True if this browser opted out after the event.' }),
  resolved: Type.Boolean({ description: 'True if the visitor is currently identified.' }),
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
        'The event, once for each project that has it. Events with the same id count once.',
    }),
    rejections: Type.Array(
      Type.Object({
        received_at: Timestamp,
        project_id: Id,
        pixel_id: Id,
        event_type: Nullable(Type.String(), {
          description: 'Null if the service does not know the type.',
        }),
        path: Type.String({
          description:
            'JSON pointer to the invalid value in the event. It ends with `*` at the first name that only the sender knows.',
        }),
        message: Type.String(),
      }),
      {
        description: 'Rejections of an event with this id in the last thirty days, latest first.',
      },
    ),
    duplicates: Type.Array(
      Type.Object({ received_at: Timestamp, project_id: Id, pixel_id: PixelId }),
      {
        description:
          'Duplicates of the event in the last thirty days, latest first. Pages resend an event if an answer was lost. The ' +
          'service discards them.',
      },
    ),
    possible_reasons: Type.Array(Choice(reasons), {
      description:
        'Possible reasons why the event is not found. `on_its_way`: it is not stored yet. `bot_dropped`: the pixel drops ' +
        'events of bots. `ignored`: the project ignores its network, host or path. `opted_out`: the visitor ' +
        'opted out. `deleted`: it was deleted, or rejected more than thirty days ago. `never_arrived`: the collector ' +
        'did not receive it.',
    }),
    complete_until: Nullable(Timestamp, {
      description: 'All events received before this time are stored.',
    }),
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
            'Reports whether the event was stored or rejected, with the reason. Also reports duplicates, and whether its ' +
            'visitor is a bot, opted out or is identified. Never billed, so it does not contain the event itself.',
          params: strictObject({ event_id: Type.String({ minLength: 1, maxLength: 100 }) }),
          querystring: strictObject(placeQuery),
          response: { 200: EventTrace },
        },
        config: {
          access: eventsAccess,
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
        const [events, rejections, duplicates] = await Promise.all([
          readStored(queryExecutor, scope, eventId),
          readRejections(queryExecutor, scope, eventId),
          readDuplicates(queryExecutor, scope, eventId),
        ])
        const optedOut = await readOptedOut(
          deps.postgres,
          scope,
          events.map(({ cookie_id }) => cookie_id),
        )
        const stored = events.map(({ cookie_id, ...event }) => ({
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
