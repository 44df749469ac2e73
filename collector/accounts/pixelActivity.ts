import type { FastifyPluginAsync } from 'fastify'
import { type Static, Type } from 'typebox'
import type { ClickHouse, Query } from '../clickhouse/client.ts'
import { exactly, Id, Nullable, Timestamp } from '../schemaParts.ts'
import type { TypeBox } from '../typeProvider.ts'
import { access } from './declarations.ts'
import type { AccountsDeps } from './deps.ts'
import { pixelFor } from './pixelChecks.ts'

const Activity = Type.Object({
  pixel_id: Id,
  first_event_at: Nullable(Timestamp),
  last_event_at: Nullable(Timestamp),
  events_last_24h: Type.Integer(),
  rejected_last_24h: Type.Integer(),
  last_rejection: Nullable(
    Type.Object({
      at: Timestamp,
      path: Type.String({ description: 'JSON pointer into the event that was turned away.' }),
      message: Type.String(),
    }),
  ),
})
type Activity = Static<typeof Activity>

/** GET /api/v1/pixel/activity/{pixel_id}: does it work? */
export const pixelActivityRoutes =
  ({ postgres, clickhouse }: AccountsDeps): FastifyPluginAsync =>
  async (plain) => {
    plain.withTypeProvider<TypeBox>().get(
      '/api/v1/pixel/activity/:pixel_id',
      {
        config: { access: access.projectRead },
        schema: {
          tags: ['Administration'],
          summary: 'Whether a pixel works',
          description: 'Its first and last event, and what was turned away. Never billed.',
          params: exactly({ pixel_id: Id }),
          response: { 200: Activity },
        },
      },
      async ({ principal, params }) => {
        const pixel = await pixelFor(postgres, principal, params, 'read')
        return readActivity(clickhouse[principal.mode], pixel)
      },
    )
  }

/** The project leads the primary key of both tables, so it is named beside the pixel. */
interface PixelPlace {
  pixelId: string
  projectId: string
}

const ofPixel = 'project_id = {projectId:UUID} AND pixel_id = {pixelId:UUID}'

const eventsQuery = (params: PixelPlace): Query => ({
  sql: `
    SELECT
      (SELECT timestamp FROM events WHERE ${ofPixel} ORDER BY ts_millis LIMIT 1) AS first_event_at,
      (SELECT timestamp FROM events WHERE ${ofPixel} ORDER BY ts_millis DESC LIMIT 1) AS last_event_at,
      (SELECT count() FROM events
       WHERE ${ofPixel} AND ts_millis >= toUnixTimestamp(now() - INTERVAL 24 HOUR) * 1000) AS events_last_24h`,
  params: { ...params },
})

const rejectionsQuery = (params: PixelPlace): Query => ({
  sql: `
    SELECT
      max(received_at) AS at,
      argMax(path, received_at) AS path,
      argMax(message, received_at) AS message,
      count() AS kept,
      countIf(received_at >= now() - INTERVAL 24 HOUR) AS rejected_last_24h
    FROM rejected_events WHERE ${ofPixel}`,
  params: { ...params },
})

async function readActivity(clickhouse: ClickHouse, pixel: PixelPlace): Promise<Activity> {
  const [[events], [rejections]] = await Promise.all([
    clickhouse.rows<Pick<Activity, 'first_event_at' | 'last_event_at' | 'events_last_24h'>>(
      eventsQuery(pixel),
    ),
    clickhouse.rows<{ at: string; path: string; message: string; kept: number; rejected_last_24h: number }>(
      rejectionsQuery(pixel),
    ),
  ])
  const { kept, rejected_last_24h, ...last } = rejections!
  return {
    pixel_id: pixel.pixelId,
    ...events!,
    rejected_last_24h,
    last_rejection: kept > 0 ? last : null,
  }
}
