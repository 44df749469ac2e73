import { randomUUID } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { readChatUrl, requireReaders, sealChatUrl } from '../../analytics/alerts/alertChannels.ts'
import { audit } from '../../api/access/audit.ts'
import { projectFor, projectOfObject } from '../../api/access/policy.ts'
import type { Principal } from '../../api/access/principal.ts'
import { access, writeAccess } from '../../api/access/recordAccess.ts'
import { sampleIdentity } from '../../api/access/sandboxTenant.ts'
import { Id, strictObject } from '../../api/http/commonSchemas.ts'
import { conflict, notFound } from '../../api/http/errors.ts'
import { changesOf, requireVersion } from '../../api/http/optimisticLock.ts'
import { rejectUnstorableText } from '../../api/http/rejectUnstorableText.ts'
import { wakeQueue } from '../../platform/jobs/queue.ts'
import type { Outbound } from '../../platform/outbound/outbound.ts'
import type { SecretBox } from '../../platform/outbound/secretBox.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import { claimsMax } from './matchVisits.ts'
import { visitsQueue } from './visitAlertJobs.ts'
import {
  tags,
  VisitAlert,
  VisitAlertChange,
  VisitAlertInput,
  visitAlertsMax,
} from './visitAlertSchemas.ts'
import { listVisitAlerts, readMatch, readVisitAlert } from './visitAlerts.ts'

export interface VisitAlertsDeps {
  postgres: Postgres
  outbound: Outbound
  secretBox: SecretBox
}

const path = '/api/v1/visit-alerts'
const ById = strictObject({ visit_alert_id: Id })
const ProjectQuery = strictObject({ project_id: Type.Optional(Id) })
const One = Type.Object({ visit_alert: VisitAlert })

/** /api/v1/visit-alerts: rules that report when a person visits. */
export const visitAlertRoutes =
  (deps: VisitAlertsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, outbound, secretBox } = deps
    app.addHook('preValidation', rejectUnstorableText)

    app.get(
      path,
      {
        config: { access },
        schema: {
          tags,
          operationId: 'listVisitAlerts',
          summary: 'List visit alerts',
          description:
            'Returns the rules of a project that the caller can access, oldest first. Never billed.',
          querystring: strictObject({ project_id: Id }),
          response: { 200: Type.Object({ visit_alerts: Type.Array(VisitAlert) }) },
        },
      },
      async ({ principal, query }) => {
        const { projectId } = await projectFor(
          postgres,
          principal,
          'events',
          query.project_id,
          'read',
        )
        return { visit_alerts: await listVisitAlerts(postgres, projectId) }
      },
    )

    app.post(
      path,
      {
        config: { access: writeAccess, sampleIds: { visit_alert: sampleIdentity.visitAlertId } },
        schema: {
          tags,
          operationId: 'createVisitAlert',
          summary: 'Create a visit alert',
          description: `Requires the project admin role. When a matching person visits, Footfall sends one message within ten seconds by mail, webhook (\`visit.matched\`) and chat. The message has the identity data of \`tier\` and the session so far. Each person is charged one record a UTC day on the meter of \`tier\`, however many rules of that tier match. Visitors whom only unsigned \`identify\` calls name are reported free of charge, without identity data. A rule sends at most ${claimsMax} such messages a UTC day. \`unverified_charges_max\` charges such visitors, up to its number a day. Creating the rule is free. People who opted out are never matched. A project has at most ${visitAlertsMax} rules.`,
          body: VisitAlertInput,
          response: { 201: One },
        },
      },
      async ({ principal, body }, reply) => {
        const { projectId } = await projectFor(
          postgres,
          principal,
          'events',
          body.project_id,
          'write',
        )
        const chatUrl = await readChatUrl(outbound, body.chat_url)
        const id = randomUUID()
        const alert = await inTransaction(postgres, async (client) => {
          await client.query('SELECT FROM projects WHERE project_id = $1 FOR NO KEY UPDATE', [
            projectId,
          ])
          if ((await listVisitAlerts(client, projectId)).length >= visitAlertsMax)
            throw conflict(
              'count_limit_reached',
              `A project has at most ${visitAlertsMax} visit alerts. Delete one first.`,
            )
          await client.query(
            `INSERT INTO visit_alerts (visit_alert_id, project_id, name, match, tier, active, member_ids,
               unverified_charges_max, chat_url)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
            [
              id,
              projectId,
              ...(await valuesOf(client, projectId, body)),
              sealChatUrl(secretBox, id, chatUrl),
            ],
          )
          const object = { kind: 'visit_alert', id } as const
          await audit(client, principal, 'visit_alert.create', object, { name: body.name })
          await wakeQueue(client, visitsQueue)
          return (await readVisitAlert(client, principal.organizationId, id))!
        })
        return reply.code(201).send({ visit_alert: alert })
      },
    )

    await app.register(singleVisitAlertRoutes(deps))
  }

/** The routes of one rule. */
const singleVisitAlertRoutes =
  ({ postgres, outbound, secretBox }: VisitAlertsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      `${path}/:visit_alert_id`,
      {
        config: { access },
        schema: {
          tags,
          operationId: 'getVisitAlert',
          summary: 'Get a visit alert',
          description: 'Returns a rule of a project that the caller can access. Never billed.',
          params: ById,
          querystring: ProjectQuery,
          response: { 200: One },
        },
      },
      async ({ principal, params, query }) => ({
        visit_alert: await alertFor(
          postgres,
          principal,
          params.visit_alert_id,
          'read',
          query.project_id,
        ),
      }),
    )

    app.put(
      `${path}/:visit_alert_id`,
      {
        config: { access: writeAccess },
        schema: {
          tags,
          operationId: 'updateVisitAlert',
          summary: 'Update a visit alert',
          description:
            'Requires the project admin role. Replaces the settings. `project_id` must be the project of the rule. Visits before an activation are not reported.',
          params: ById,
          body: VisitAlertChange,
          response: { 200: One },
        },
      },
      async ({ principal, params, body }) => {
        const { visit_alert_id: id, project_id: projectId } = await alertFor(
          postgres,
          principal,
          params.visit_alert_id,
          'write',
          body.project_id,
        )
        const chatUrl = await readChatUrl(outbound, body.chat_url)
        return inTransaction(postgres, async (client) => {
          const { organizationId } = principal
          const before = await readVisitAlert(
            client,
            organizationId,
            id,
            'FOR UPDATE OF visit_alerts',
          )
          if (!before) throw notFound.visitAlert()
          requireVersion('visit_alert', before, body.version)
          await client.query(
            `UPDATE visit_alerts SET name = $2, match = $3, tier = $4, active = $5, member_ids = $6,
               unverified_charges_max = $7, chat_url = CASE WHEN $8 THEN $9 ELSE chat_url END,
               checked_until = CASE WHEN active THEN checked_until ELSE now() END,
               unverified_checked_until = CASE WHEN active THEN unverified_checked_until ELSE now() END,
               paused_by = NULL, version = version + 1, updated_at = now() WHERE visit_alert_id = $1`,
            [
              id,
              ...(await valuesOf(client, projectId, body)),
              chatUrl !== undefined,
              sealChatUrl(secretBox, id, chatUrl),
            ],
          )
          const alert = (await readVisitAlert(client, organizationId, id))!
          const object = { kind: 'visit_alert', id } as const
          await audit(client, principal, 'visit_alert.update', object, changesOf(before, alert))
          await wakeQueue(client, visitsQueue)
          return { visit_alert: alert }
        })
      },
    )

    app.delete(
      `${path}/:visit_alert_id`,
      {
        config: { access: writeAccess },
        schema: {
          tags,
          operationId: 'deleteVisitAlert',
          summary: 'Delete a visit alert',
          description: 'Requires the project admin role. Nothing more is reported or charged.',
          params: ById,
          querystring: ProjectQuery,
          response: { 204: Type.Null() },
        },
      },
      async ({ principal, params, query }, reply) => {
        const { visit_alert_id: id, name } = await alertFor(
          postgres,
          principal,
          params.visit_alert_id,
          'write',
          query.project_id,
        )
        await inTransaction(postgres, async (client) => {
          await client.query('DELETE FROM visit_alerts WHERE visit_alert_id = $1', [id])
          await audit(
            client,
            principal,
            'visit_alert.delete',
            { kind: 'visit_alert', id },
            { name },
          )
        })
        return reply.code(204).send(null)
      },
    )
  }

/** Reads a rule whose project the caller may read or change. */
async function alertFor(
  postgres: Postgres,
  principal: Principal,
  id: string,
  action: 'read' | 'write',
  named: string | undefined,
): Promise<VisitAlert> {
  if (named !== undefined) await projectFor(postgres, principal, 'events', named, action)
  const alert = await readVisitAlert(postgres, principal.organizationId, id)
  const isOfOther = named !== undefined && named !== alert?.project_id
  if (!alert || isOfOther) throw notFound.visitAlert()
  const object = { projectId: alert.project_id, missing: notFound.visitAlert }
  await projectOfObject(postgres, principal, 'events', object, action)
  return alert
}

/** Returns the values to store, from the name to the charged unverified visitors. Throws 400 for settings that cannot be used. */
async function valuesOf(
  client: Queryable,
  projectId: string,
  {
    name,
    match,
    tier,
    active = true,
    member_ids = [],
    unverified_charges_max = 0,
  }: VisitAlertInput,
) {
  await requireReaders(client, projectId, member_ids, 'identity')
  const stored = await readMatch(client, projectId, tier, match)
  return [name, JSON.stringify(stored), tier, active, member_ids, unverified_charges_max] as const
}
