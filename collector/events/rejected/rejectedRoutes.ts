import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { ignoreSettings } from '../../../schemas/ignored.ts'
import type { Scope } from '../../api/access/policy.ts'
import { access } from '../../api/access/recordAccess.ts'
import { untilClosed } from '../../api/http/streaming.ts'
import { ChargedMeta, chargedMeta } from '../../billing/chargedMeta.ts'
import { admit, hashesOf, settle } from '../../billing/chargedRequest.ts'
import type { Query } from '../../platform/clickhouse/client.ts'
import { dateAt } from '../../platform/days.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import type { ReadDeps } from '../query/readDeps.ts'
import { withoutSenderText } from './withoutSenderText.ts'

const RejectedEvent = Type.Object(
  {
    received_at: Type.String(),
    project_id: Type.String({ format: 'uuid' }),
    pixel_id: Type.String({ format: 'uuid' }),
    cookie_id: Type.Union([Type.String({ format: 'uuid' }), Type.Null()], {
      description: 'The browser, which a corrected event needs when it is sent again.',
    }),
    event_id: Type.Union([Type.String(), Type.Null()], {
      description: 'As it was sent. With `content=false`, null if it is no UUID.',
    }),
    event_type: Type.Union([Type.String(), Type.Null()], {
      description:
        'As it was sent. With `content=false`, null if the service does not know the type.',
    }),
    refusal: Type.Union([Type.String(), Type.Null()], {
      description:
        'For a complete beacon that was refused: the error of the answer, such as `origin not allowed`. The service stores a few a minute of each, without their content.',
    }),
    path: Type.String({
      description:
        'JSON pointer to the invalid value in the event. With `content=false`, it ends with `*` at the first name that only the sender knows.',
    }),
    message: Type.String(),
    event: Type.String({
      description:
        'The event as JSON, truncated to 4,096 characters. Empty for a refused beacon, and with `content=false`.',
    }),
  },
  { title: 'RejectedEvent' },
)

const QueryString = Type.Object(
  {
    project_id: Type.Optional(Type.String({ format: 'uuid' })),
    pixel_id: Type.Optional(Type.String({ format: 'uuid' })),
    event_id: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'Returns only events with this id, as it was sent.',
        examples: ['9b2f6c1e-6f0d-4a53-9c7c-1d1f7d6c2b10'],
      }),
    ),
    content: Type.Optional(
      Type.Boolean({
        default: true,
        description:
          '`false` returns the reasons without the events and without other text of their senders, free of charge.',
      }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 100 })),
  },
  { additionalProperties: false },
)

const Meta = Type.Object(
  {
    ...ChargedMeta.properties,
    free_left: Type.Integer({
      description:
        'Rejected events with content that the organization may still read free of charge today, UTC.',
    }),
  },
  { title: 'RejectedEventsMeta' },
)

/** Reads rejected events, newest first. */
function rejectedQuery(
  { organizationId, projectId, pixelId }: Scope,
  { eventId, hasContent, limit }: { eventId: string | null; hasContent: boolean; limit: number },
): Query {
  return {
    sql: `
      SELECT received_at, project_id, pixel_id,
        nullIf(cookie_id, toUUID('00000000-0000-0000-0000-000000000000')) AS cookie_id, event_id, event_type,
        nullIf(refusal, '') AS refusal, path, message, ${hasContent ? 'event' : "'' AS event"}
      FROM rejected_events
      WHERE organization_id = {organization:UUID}
        AND ({project:Nullable(UUID)} IS NULL OR project_id = {project:Nullable(UUID)})
        AND ({pixel:Nullable(UUID)} IS NULL OR pixel_id = {pixel:Nullable(UUID)})
        AND ({event:Nullable(String)} IS NULL OR rejected_events.event_id = {event:Nullable(String)})
        AND rejected_events.refusal NOT IN {ignoreSettings:Array(String)}
      ORDER BY received_at DESC
      LIMIT {limit:UInt32}`,
    params: {
      organization: organizationId,
      project: projectId,
      pixel: pixelId,
      event: eventId,
      limit,
      ignoreSettings,
    },
  }
}

/**
 * GET /api/v1/rejected_events: rejected events with reasons, newest first. Their content is charged after a free number a
 * day. Otherwise a site could read its events without paying, by making them invalid.
 */
export const rejectedRoutes =
  (deps: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/rejected_events',
      {
        schema: {
          tags: ['Ingest'],
          operationId: 'listRejectedEvents',
          description: `Returns the events that the collector rejected, with the reasons. Sorted by time, newest first. Of the events without a key, each worker stores 60 a minute and pixel. The first ${freeRejectedEventsPerDay.toLocaleString('en')} events with content that an organization reads on a UTC day are free. Further ones are charged on the meter \`events\`. \`meta.free_left\` is the number of free ones that are left. Reasons without content (\`content=false\`) and refused beacons are always free.`,
          summary: 'List the rejected events of the last thirty days',
          querystring: QueryString,
          response: {
            200: Type.Object({ rejected_events: Type.Array(RejectedEvent), meta: Meta }),
          },
        },
        config: {
          charged: true,
          access,
        },
      },
      async (request, reply) => {
        const { principal, query } = request
        const { project_id, pixel_id, event_id = null, content = true, limit = 100 } = query
        const { postgres } = deps
        const scope = await deps.scopeOf(principal, {
          projectId: project_id,
          pixelId: pixel_id,
        })
        const { organizationId, projectId } = scope
        const isCounted = content && principal.mode === 'live'
        const leftBefore = await freeRejectedEventsLeft(postgres, organizationId, deps.now())
        const admitEvents = (recordsMax: number) =>
          admit(deps.billing, request, reply, { meter: 'events', projectId, recordsMax })
        // The charge of a repeat must cover all events of the first answer, so it is free or charged as a whole.
        const isRepeatable = request.headers['idempotency-key'] !== undefined
        const freeOf = (events: number, free: number) => (isRepeatable && free < events ? 0 : free)
        const recordsMax = isCounted ? limit - freeOf(limit, Math.min(limit, leftBefore)) : 0
        let admitted = recordsMax > 0 ? await admitEvents(recordsMax) : undefined
        const queryExecutor = deps.openQueryExecutor(principal, {
          effort: 'page',
          signal: untilClosed(reply),
        })
        const rows = await queryExecutor.rows<Static<typeof RejectedEvent>>(
          rejectedQuery(scope, { eventId: event_id, hasContent: content, limit }),
        )
        const rejected_events = content ? rows : rows.map(withoutSenderText)
        const events = rejected_events.filter(({ event }) => event !== '')
        const counted =
          isCounted && events.length > 0
            ? await countRejectedEvents(postgres, organizationId, events.length, deps.now())
            : { free: events.length, left: leftBefore }
        const toCharge = events.slice(freeOf(events.length, counted.free))
        try {
          // Another request may have used up the free events meanwhile.
          if (toCharge.length > 0) admitted ??= await admitEvents(toCharge.length)
          const { charged } = admitted
            ? await settle(admitted, {
                records: toCharge.length,
                hashes: () => hashesOf(toCharge.map((event) => JSON.stringify(event))),
              })
            : { charged: 0 }
          reply.header('x-footfall-request-id', request.id).header('x-footfall-charged', charged)
          const meta = { ...chargedMeta('events', events.length, charged), free_left: counted.left }
          return { rejected_events, meta }
        } catch (error) {
          await countRejectedEvents(postgres, organizationId, -events.length, deps.now())
          throw error
        }
      },
    )
  }

/** The rejected events that an organization reads free of charge on a UTC day. */
const freeRejectedEventsPerDay = 1_000

/** Returns how many rejected events an organization may still read free of charge today. */
async function freeRejectedEventsLeft(
  postgres: Postgres,
  organizationId: string,
  nowMs: number,
): Promise<number> {
  const { rows } = await postgres.query<{ events: string }>(
    'SELECT events FROM free_rejected_events WHERE organization_id = $1 AND day = $2',
    [organizationId, dateAt(nowMs)],
  )
  return Math.max(0, freeRejectedEventsPerDay - Number(rows[0]?.events ?? 0))
}

/** Counts rejected events that are read, and returns how many of them are free. A negative number gives them back. */
async function countRejectedEvents(
  postgres: Postgres,
  organizationId: string,
  events: number,
  nowMs: number,
): Promise<{ free: number; left: number }> {
  const { rows } = await postgres.query<{ events: string }>(
    `INSERT INTO free_rejected_events AS kept (organization_id, day, events) VALUES ($1, $2, greatest(0, $3::bigint))
     ON CONFLICT (organization_id) DO UPDATE
       SET day = $2, events = greatest(0, CASE WHEN kept.day = $2 THEN kept.events ELSE 0 END + $3::bigint)
     RETURNING events`,
    [organizationId, dateAt(nowMs), events],
  )
  const total = Number(rows[0]!.events)
  const leftBefore = Math.max(0, freeRejectedEventsPerDay - (total - events))
  return {
    free: Math.min(events, leftBefore),
    left: Math.max(0, freeRejectedEventsPerDay - total),
  }
}
