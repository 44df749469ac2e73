import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { ignoreSettings } from '../../../schemas/ignored.ts'
import { isVisibleProject, plainMemberId } from '../../api/access/visibility.ts'
import { Id, Nullable, strictObject, Timestamp } from '../../api/http/commonSchemas.ts'
import { untilClosed } from '../../api/http/streaming.ts'
import type { Query } from '../../platform/clickhouse/client.ts'
import { dayMs } from '../../platform/days.ts'
import { access } from '../accountSchemas.ts'
import type { AccountsDeps } from '../accountsDeps.ts'

/** Today and the days before it, in UTC. */
const days = 14
const daysLooked = 30

const ProjectActivity = Type.Object(
  {
    project_id: Id,
    visitors: Type.Array(Type.Integer(), {
      description: `Distinct \`cookie_id\` on each of the last ${days} days (UTC), today last, without bots. Equals \`/counts\` with \`is_bot:eq:false\`.`,
    }),
    events_today: Type.Integer({ description: 'Events since midnight (UTC), without bots.' }),
    last_event_at: Nullable(Timestamp, {
      description: `Events of the last ${daysLooked} days, including bots.`,
    }),
    last_refusal_at: Nullable(Timestamp, {
      description: `When the service last refused a beacon of one of the project’s pixels, in the last ${daysLooked} days.`,
    }),
  },
  { title: 'ProjectActivity' },
)
type ProjectActivity = Static<typeof ProjectActivity>

/** GET /api/v1/project/activity: how all projects are doing, at a glance. */
export const projectActivityRoutes =
  ({ postgres, openQueryExecutor }: AccountsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/project/activity',
      {
        config: { access: access.organizationRead },
        schema: {
          tags: ['Projects'],
          operationId: 'listProjectActivity',
          summary: 'Get the activity of all projects',
          description: `Returns the visitors of the last ${days} days and the state of collection for each project that the caller can access. Never billed.`,
          querystring: strictObject({}),
          response: { 200: Type.Object({ projects: Type.Array(ProjectActivity) }) },
        },
      },
      async ({ principal }, reply) => {
        const { rows } = await postgres.query<{ project_id: string }>(
          `SELECT project_id FROM projects WHERE organization_id = $1 AND ${isVisibleProject('project_id', '$2', '$3')}
           ORDER BY created_at, project_id`,
          [principal.organizationId, principal.projectId, plainMemberId(principal)],
        )
        const ids = rows.map(({ project_id }) => project_id)
        if (ids.length === 0) return { projects: [] }
        const queryExecutor = openQueryExecutor(principal, {
          effort: 'scan',
          signal: untilClosed(reply),
        })
        const today = Math.floor(Date.now() / dayMs)
        const [events, refusals] = await Promise.all([
          queryExecutor.rows<EventsRow>(eventsQuery(ids, today)),
          queryExecutor.rows<RefusalRow>(refusalsQuery(ids, today)),
        ])
        const eventsOf = new Map(events.map((row) => [row.project_id, row]))
        const refusalOf = new Map(refusals.map((row) => [row.project_id, row.last_refusal_at]))
        return {
          projects: ids.map((id) => activityOf(id, today, eventsOf.get(id), refusalOf.get(id))),
        }
      },
    )
  }

interface EventsRow {
  project_id: string
  /** By day since 1970. */
  visitors: Record<string, number>
  events_today: number
  last_ms: number
}

interface RefusalRow {
  project_id: string
  last_refusal_at: string
}

/** Counts events of pixels, without bots. It names the projects, by which events are sorted. */
const eventsQuery = (ids: string[], today: number): Query => ({
  sql: `
    SELECT project_id, sumMap(map(day, visitors)) AS visitors, sumIf(events, day = {today:UInt32}) AS events_today,
      max(last_ms) AS last_ms
    FROM (
      SELECT project_id, toUInt32(intDiv(ts_millis, ${dayMs})) AS day, countIf(NOT is_bot) AS events, max(ts_millis) AS last_ms,
        uniqExactIf(cookie_id, day > {today:UInt32} - ${days} AND NOT is_bot) AS visitors
      FROM events
      WHERE project_id IN {ids:Array(UUID)} AND source = 'pixel'
        AND ts_millis >= ({today:UInt32} - ${daysLooked - 1}) * ${dayMs}
      GROUP BY project_id, day
    )
    GROUP BY project_id`,
  params: { ids, today },
})

const refusalsQuery = (ids: string[], today: number): Query => ({
  sql: `
    SELECT project_id, max(received_at) AS last_refusal_at FROM rejected_events
    WHERE project_id IN {ids:Array(UUID)} AND refusal NOT IN ('', 'malformed') AND refusal NOT IN {ignoreSettings:Array(String)}
      AND received_at >= fromUnixTimestamp64Milli(toInt64({today:UInt32} - ${daysLooked - 1}) * ${dayMs})
    GROUP BY project_id`,
  params: { ids, today, ignoreSettings },
})

function activityOf(
  projectId: string,
  today: number,
  events: EventsRow | undefined,
  lastRefusalAt: string | undefined,
): ProjectActivity {
  return {
    project_id: projectId,
    visitors: Array.from({ length: days }, (_, at) =>
      Number(events?.visitors[String(today - days + 1 + at)] ?? 0),
    ),
    events_today: Number(events?.events_today ?? 0),
    last_event_at: events ? new Date(Number(events.last_ms)).toISOString() : null,
    last_refusal_at: lastRefusalAt ?? null,
  }
}
