import { isDeepStrictEqual } from 'node:util'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import {
  type TrackingPlan as Plan,
  plannedEventsMax,
  trackingPlanMembers,
} from '../../../schemas/trackingPlan.ts'
import { audit } from '../../api/access/audit.ts'
import { projectFor } from '../../api/access/policy.ts'
import type { Principal } from '../../api/access/principal.ts'
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
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import { access } from '../accountSchemas.ts'
import type { AccountsDeps } from '../accountsDeps.ts'
import { listUnplanned, UnplannedEvent } from './unplannedEvents.ts'

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
  const { projectId } = await projectFor(postgres, principal, 'events', asked, 'read')
  return projectId
}

async function readPlan(client: Queryable, projectId: string): Promise<TrackingPlan | null> {
  const { rows } = await client.query<
    Omit<TrackingPlan, 'created_at' | 'updated_at'> & { created_at: Date; updated_at: Date }
  >(
    `SELECT project_id, on_violation, on_unplanned, events, version, created_at, updated_at
     FROM tracking_plans WHERE project_id = $1`,
    [projectId],
  )
  return rows[0]
    ? {
        ...rows[0],
        created_at: rows[0].created_at.toISOString(),
        updated_at: rows[0].updated_at.toISOString(),
      }
    : null
}

/** Throws 400 for a schema that is refused, 403 and 404, and 409 if the plan was changed meanwhile. */
async function savePlan(
  postgres: Postgres,
  principal: Principal,
  { project_id, version, ...plan }: Static<typeof Input>,
): Promise<TrackingPlan> {
  const fault = findPlanFault(plan)
  if (fault) throw invalidParameter(fault.path.slice(1).replaceAll('/', '.'), fault.message)
  const { projectId } = await projectFor(postgres, principal, 'events', project_id, 'write')
  return inTransaction(postgres, async (client) => {
    await client.query('SELECT FROM projects WHERE project_id = $1 FOR NO KEY UPDATE', [projectId])
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
