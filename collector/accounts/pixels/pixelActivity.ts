import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { type IgnoreSetting, ignoreSettings } from '../../../schemas/ignored.ts'
import type { QueryExecutor } from '../../api/access/queryExecutor.ts'
import { Choice, Id, Nullable, strictObject, Timestamp } from '../../api/http/commonSchemas.ts'
import { untilClosed } from '../../api/http/streaming.ts'
import type { Query } from '../../platform/clickhouse/client.ts'
import { isDayUuid } from '../../platform/uuidOfDigest.ts'
import { access } from '../accountSchemas.ts'
import type { AccountsDeps } from '../accountsDeps.ts'
import { pixelFor } from './pixelChecks.ts'

const Activity = Type.Object(
  {
    pixel_id: Id,
    first_event_at: Nullable(Timestamp),
    last_event_at: Nullable(Timestamp),
    events_last_24h: Type.Integer(),
    bots_last_24h: Type.Integer({
      description: 'Those of `events_last_24h` that bots sent. Figures exclude them.',
    }),
    visitors_last_24h: Type.Integer({ description: 'Visitors of those events, without bots.' }),
    without_consent_last_24h: Type.Integer({
      description:
        'Those of `visitors_last_24h` whose id is valid for a day, because they had not consented. Who consents later counts twice.',
    }),
    rejected_last_24h: Type.Integer(),
    last_rejection: Nullable(
      Type.Object({
        at: Timestamp,
        path: Type.String({ description: 'JSON pointer into the rejected event.' }),
        message: Type.String(),
      }),
    ),
    last_refusal: Nullable(
      Type.Object({
        at: Timestamp,
        error: Type.String({
          description: 'The error that the beacon received: `origin not allowed`.',
        }),
        message: Type.String(),
      }),
    ),
    last_ignored: Nullable(
      Type.Object({
        at: Timestamp,
        setting: Choice(ignoreSettings),
        message: Type.String(),
      }),
      {
        description:
          'The last time that the project ignored an event of this pixel, and the setting that ignored it. Recorded once a minute for each setting.',
      },
    ),
  },
  { title: 'PixelActivity' },
)
type Activity = Static<typeof Activity>

/** GET /api/v1/pixel/activity/{pixel_id}: does it work? */
export const pixelActivityRoutes =
  ({ postgres, openQueryExecutor }: AccountsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/pixel/activity/:pixel_id',
      {
        config: { access: access.projectRead },
        schema: {
          tags: ['Pixels'],
          operationId: 'getPixelActivity',
          summary: 'Get the activity of a pixel',
          description:
            'Returns the first and last event of the pixel, and its latest rejected or ignored events. Never billed.',
          params: strictObject({ pixel_id: Id }),
          querystring: strictObject({ project_id: Type.Optional(Id) }),
          response: { 200: Activity },
        },
      },
      async ({ principal, params, query }, reply) => {
        const pixel = await pixelFor(postgres, principal, { ...params, ...query }, 'read')
        return readActivity(
          openQueryExecutor(principal, { effort: 'page', signal: untilClosed(reply) }),
          pixel,
        )
      },
    )
  }

/** The project is first in the primary key of both tables, so queries name it together with the pixel. */
interface PixelKey {
  pixelId: string
  projectId: string
}

const ofPixel = 'project_id = {projectId:UUID} AND pixel_id = {pixelId:UUID}'

const eventsQuery = (params: PixelKey): Query => ({
  sql: `
    SELECT
      (SELECT timestamp FROM events WHERE ${ofPixel} ORDER BY ts_millis LIMIT 1) AS first_event_at,
      (SELECT timestamp FROM events WHERE ${ofPixel} ORDER BY ts_millis DESC LIMIT 1) AS last_event_at,
      count() AS events_last_24h,
      countIf(is_bot) AS bots_last_24h,
      uniqExactIf(cookie_id, NOT is_bot) AS visitors_last_24h,
      uniqExactIf(cookie_id, NOT is_bot AND ${isDayUuid('cookie_id')}) AS without_consent_last_24h
    FROM events WHERE ${ofPixel} AND ts_millis >= toUnixTimestamp(now() - INTERVAL 24 HOUR) * 1000`,
  params: { ...params },
})

const isIgnored = 'refusal IN {ignoreSettings:Array(String)}'
const isRefused = `(refusal != '' AND NOT ${isIgnored})`

const rejectionsQuery = (params: PixelKey): Query => ({
  sql: `
    SELECT
      countIf(refusal = '' AND received_at >= now() - INTERVAL 24 HOUR) AS rejected_last_24h,
      countIf(refusal = '') AS rejected,
      maxIf(received_at, refusal = '') AS rejected_at,
      argMaxIf(path, received_at, refusal = '') AS rejected_path,
      argMaxIf(message, received_at, refusal = '') AS rejected_message,
      countIf(${isRefused}) AS refused,
      maxIf(received_at, ${isRefused}) AS refused_at,
      argMaxIf(refusal, received_at, ${isRefused}) AS refused_error,
      argMaxIf(message, received_at, ${isRefused}) AS refused_message,
      countIf(${isIgnored}) AS ignored,
      maxIf(received_at, ${isIgnored}) AS ignored_at,
      argMaxIf(refusal, received_at, ${isIgnored}) AS ignored_by,
      argMaxIf(message, received_at, ${isIgnored}) AS ignored_message
    FROM rejected_events WHERE ${ofPixel}`,
  params: { ...params, ignoreSettings },
})

async function readActivity(queryExecutor: QueryExecutor, pixel: PixelKey): Promise<Activity> {
  const [[events], [rejections]] = await Promise.all([
    queryExecutor.rows<EventsOfPixel>(eventsQuery(pixel)),
    queryExecutor.rows<Rejections>(rejectionsQuery(pixel)),
  ])
  const last = rejections!
  return {
    pixel_id: pixel.pixelId,
    ...events!,
    rejected_last_24h: last.rejected_last_24h,
    last_rejection:
      last.rejected > 0
        ? { at: last.rejected_at, path: last.rejected_path, message: last.rejected_message }
        : null,
    last_refusal:
      last.refused > 0
        ? { at: last.refused_at, error: last.refused_error, message: last.refused_message }
        : null,
    last_ignored:
      last.ignored > 0
        ? { at: last.ignored_at, setting: last.ignored_by, message: last.ignored_message }
        : null,
  }
}

type EventsOfPixel = Pick<
  Activity,
  | 'first_event_at'
  | 'last_event_at'
  | 'events_last_24h'
  | 'bots_last_24h'
  | 'visitors_last_24h'
  | 'without_consent_last_24h'
>

/** Rejected events, refused beacons, and events that the project ignored. */
interface Rejections {
  rejected_last_24h: number
  rejected: number
  rejected_at: string
  rejected_path: string
  rejected_message: string
  refused: number
  refused_at: string
  refused_error: string
  refused_message: string
  ignored: number
  ignored_at: string
  ignored_by: IgnoreSetting
  ignored_message: string
}
