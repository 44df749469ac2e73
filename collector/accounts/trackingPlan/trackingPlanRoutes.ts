import { isDeepStrictEqual } from 'node:util'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import {
  ownCustomEvents,
  type TrackingPlan as Plan,
  plannedEventsMax,
  trackingPlanMembers,
} from '../../../schemas/trackingPlan.ts'
import { audit } from '../../api/access/audit.ts'
import { lockProject } from '../../api/access/locks.ts'
import type { Principal } from '../../api/access/principal.ts'
import { objectProject } from '../../api/access/projectObjects.ts'
import type { QueryExecutor } from '../../api/access/queryExecutor.ts'
import {
  Id,
  Nullable,
  SeenVersion,
  strictObject,
  Timestamp,
  Version,
} from '../../api/http/commonSchemas.ts'
import { invalidParameter } from '../../api/http/errors.ts'
import { requireVersion } from '../../api/http/optimisticLock.ts'
import { untilClosed } from '../../api/http/streaming.ts'
import { findPlanFault } from '../../ingest/plan/planFault.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { readRecords } from '../../platform/postgres/records.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import { access } from '../accountSchemas.ts'
import type { AccountsDeps } from '../accountsDeps.ts'

const TrackingPlan = Type.Object(
  {
    project_id: Id,
    ...trackingPlanMembers,
    version: Version,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'TrackingPlan' },
)
type TrackingPlan = Static<typeof TrackingPlan>

const Input = strictObject({ project_id: Id, ...trackingPlanMembers, version: SeenVersion })
const ByProject = strictObject({ project_id: Type.Optional(Id) })
const tags = ['Projects']
const path = '/api/v1/tracking-plan'

/** /api/v1/tracking-plan: the custom events that a project plans, and those outside the plan. */
export const trackingPlanRoutes =
  ({ postgres, openQueryExecutor }: AccountsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      path,
      {
        config: { access: access.projectRead },
        schema: {
          tags,
          operationId: 'getTrackingPlan',
          summary: 'Get the tracking plan',
          description:
            'Returns the plan of a project that the caller can access. `tracking_plan` is null if the project has none.',
          querystring: ByProject,
          response: { 200: Type.Object({ tracking_plan: Nullable(TrackingPlan) }) },
        },
      },
      async ({ principal, query }) => {
        const projectId = await readableProject(postgres, principal, query.project_id)
        return { tracking_plan: await readPlan(postgres, projectId) }
      },
    )

    app.put(
      path,
      {
        config: { access: access.project },
        schema: {
          tags,
          operationId: 'setTrackingPlan',
          summary: 'Set the tracking plan',
          description: `Requires the project admin role. Replaces the plan. The collectors apply it to new events within seconds. A plan has at most ${plannedEventsMax} events. A schema uses a subset of JSON Schema without references; patterns are regular expressions of RE2.`,
          body: Input,
          response: { 200: Type.Object({ tracking_plan: TrackingPlan }) },
        },
      },
      async ({ principal, body }) => ({ tracking_plan: await savePlan(postgres, principal, body) }),
    )

    app.get(
      `${path}/unplanned`,
      {
        config: { access: access.projectRead },
        schema: {
          tags,
          operationId: 'listUnplannedEvents',
          summary: 'List custom events outside the tracking plan',
          description:
            'Returns the custom events of the last 30 days that the plan does not name, most frequent first, at most 100. Each has an example: the id of its newest event, and a schema with the names and types of the properties of that event. Never billed; read the event itself to see its values.',
          querystring: ByProject,
          response: { 200: Type.Object({ events: Type.Array(UnplannedEvent) }) },
        },
      },
      async ({ principal, query }, reply) => {
        const projectId = await readableProject(postgres, principal, query.project_id)
        const plan = await readPlan(postgres, projectId)
        const queryExecutor = openQueryExecutor(principal, {
          effort: 'scan',
          signal: untilClosed(reply),
        })
        return { events: await listUnplanned(queryExecutor, projectId, plan?.events ?? {}) }
      },
    )
  }

async function readableProject(
  postgres: Postgres,
  principal: Principal,
  asked: string | undefined,
): Promise<string> {
  const projectId = await objectProject(postgres, principal, asked, 'read')
  return projectId
}

async function readPlan(client: Queryable, projectId: string): Promise<TrackingPlan | null> {
  const [plan] = await readRecords<TrackingPlan>(
    client,
    `SELECT project_id, on_violation, on_unplanned, events, version, created_at, updated_at
     FROM tracking_plans WHERE project_id = $1`,
    [projectId],
  )
  return plan ?? null
}

/** Throws 400 for a schema that is refused, 403 and 404, and 409 if the plan was changed meanwhile. */
async function savePlan(
  postgres: Postgres,
  principal: Principal,
  { project_id, version, ...plan }: Static<typeof Input>,
): Promise<TrackingPlan> {
  const fault = findPlanFault(plan)
  if (fault) throw invalidParameter(fault.path.slice(1).replaceAll('/', '.'), fault.message)
  const projectId = await objectProject(postgres, principal, project_id, 'write')
  return inTransaction(postgres, async (client) => {
    await lockProject(client, projectId)
    const before = await readPlan(client, projectId)
    if (before) requireVersion('tracking_plan', before, version)
    await client.query(
      `INSERT INTO tracking_plans (project_id, on_violation, on_unplanned, events) VALUES ($1, $2, $3, $4)
       ON CONFLICT (project_id) DO UPDATE SET on_violation = excluded.on_violation,
         on_unplanned = excluded.on_unplanned, events = excluded.events,
         version = tracking_plans.version + 1, updated_at = now()`,
      [projectId, plan.on_violation, plan.on_unplanned, JSON.stringify(plan.events)],
    )
    const object = { kind: 'project', id: projectId } as const
    await audit(client, principal, 'tracking_plan.update', object, changesOfPlan(before, plan))
    return (await readPlan(client, projectId))!
  })
}

function changesOfPlan(before: Plan | null, now: Plan): Record<string, unknown> {
  const [old, events] = [before?.events ?? {}, now.events]
  const isSame = (name: string) => isDeepStrictEqual(old[name], events[name])
  return {
    on_violation: now.on_violation,
    on_unplanned: now.on_unplanned,
    added: Object.keys(events).filter((name) => !Object.hasOwn(old, name)),
    removed: Object.keys(old).filter((name) => !Object.hasOwn(events, name)),
    changed: Object.keys(events).filter((name) => Object.hasOwn(old, name) && !isSame(name)),
  }
}

const daysLooked = 30
const eventsMax = 100
const propertiesMax = 50

const UnplannedEvent = Type.Object(
  {
    name: Type.String(),
    events: Type.Integer({ description: `Events of the last ${daysLooked} days, with bots.` }),
    last_event_at: Timestamp,
    example: Type.Object({
      event_id: Id,
      schema: Type.Record(Type.String(), Type.Unknown(), {
        description: 'A JSON Schema that this event matches, without values.',
      }),
    }),
  },
  { title: 'UnplannedEvent' },
)
type UnplannedEvent = Static<typeof UnplannedEvent>

interface Row {
  name: string
  events: number
  last_ms: number
  event_id: string
  properties: string
}

/** Reads the custom events of a project with other names than these, most frequent first. */
async function listUnplanned(
  queryExecutor: QueryExecutor,
  projectId: string,
  planned: Record<string, unknown>,
): Promise<UnplannedEvent[]> {
  const rows = await queryExecutor.rows<Row>({
    sql: `
      SELECT JSONExtractString(event_data, 'name') AS name, count() AS events, max(ts_millis) AS last_ms,
        argMax(event_id, ts_millis) AS event_id,
        argMax(JSONExtractRaw(event_data, 'properties'), ts_millis) AS properties
      FROM events
      WHERE project_id = {project:UUID} AND source = 'pixel' AND event_type = 'custom'
        AND ts_millis >= {since:UInt64} AND name NOT IN {names:Array(String)}
      GROUP BY name ORDER BY events DESC, name LIMIT ${eventsMax}`,
    params: {
      project: projectId,
      since: Date.now() - daysLooked * 86_400_000,
      names: [...ownCustomEvents, ...Object.keys(planned)],
    },
  })
  return rows.map(({ name, events, last_ms, event_id, properties }) => ({
    name,
    events: Number(events),
    last_event_at: new Date(Number(last_ms)).toISOString(),
    example: { event_id, schema: schemaOf(JSON.parse(properties || '{}')) },
  }))
}

/** Names and types only: values of events are billed. */
function schemaOf(properties: Record<string, unknown>): Record<string, unknown> {
  const firstProperties = Object.entries(properties).slice(0, propertiesMax)
  return {
    type: 'object',
    properties: Object.fromEntries(
      firstProperties.map(([name, value]) => [name, { type: typeOf(value) }]),
    ),
    required: firstProperties.map(([name]) => name),
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value
}
