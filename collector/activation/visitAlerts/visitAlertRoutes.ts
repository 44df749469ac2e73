import { randomUUID } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { readChatUrl, requireReaders, sealChatUrl } from '../../analytics/alerts/alertChannels.ts'
import { audit } from '../../api/access/audit.ts'
import { lockProject } from '../../api/access/locks.ts'
import {
  changeObject,
  type ObjectKind,
  objectFor,
  objectProject,
} from '../../api/access/projectObjects.ts'
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
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { claimsMax } from './matchVisits.ts'
import { visitsQueue } from './visitAlertJobs.ts'
import {
  type Match,
  tags,
  VisitAlert,
  VisitAlertChange,
  VisitAlertInput,
  visitAlertsMax,
} from './visitAlertSchemas.ts'
import { changedMatch, listVisitAlerts, readMatch, readVisitAlert } from './visitAlerts.ts'

interface VisitAlertsDeps {
  postgres: Postgres
  outbound: Outbound
  secretBox: SecretBox
}

const path = '/api/v1/visit-alerts'
const ById = strictObject({ visit_alert_id: Id })
const ProjectQuery = strictObject({ project_id: Type.Optional(Id) })
const One = Type.Object({ visit_alert: VisitAlert })
const visitAlerts: ObjectKind<VisitAlert> = {
  read: readVisitAlert,
  missing: notFound.visitAlert,
}

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
        const projectId = await objectProject(postgres, principal, query.project_id, 'read')
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
        const projectId = await objectProject(postgres, principal, body.project_id, 'write')
        const chatUrl = await readChatUrl(outbound, body.chat_url)
        const id = randomUUID()
        const alert = await inTransaction(postgres, async (client) => {
          await lockProject(client, projectId)
          if ((await listVisitAlerts(client, projectId)).length >= visitAlertsMax)
            throw conflict(
              'count_limit_reached',
              `A project has at most ${visitAlertsMax} visit alerts. Delete one first.`,
            )
          const match = await readMatch(client, projectId, body.tier, body.match)
          await requireReaders(client, projectId, body.member_ids ?? [], 'identity')
          await client.query(
            `INSERT INTO visit_alerts (visit_alert_id, project_id, name, match, tier, active, member_ids,
               unverified_charges_max, chat_url)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
            [id, projectId, ...valuesOf({ ...body, match }), sealChatUrl(secretBox, id, chatUrl)],
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
        visit_alert: await objectFor(
          postgres,
          principal,
          visitAlerts,
          { ...query, id: params.visit_alert_id },
          'read',
        ),
      }),
    )

    app.patch(
      `${path}/:visit_alert_id`,
      {
        config: { access: writeAccess },
        schema: {
          tags,
          operationId: 'updateVisitAlert',
          summary: 'Update a visit alert',
          description:
            'Requires the project admin role. Omitted fields keep their values. Visits before an activation are not reported.',
          params: ById,
          querystring: ProjectQuery,
          body: VisitAlertChange,
          response: { 200: One },
        },
      },
      async ({ principal, params, query, body }) => {
        const chatUrl = await readChatUrl(outbound, body.chat_url)
        const requested = { ...query, id: params.visit_alert_id }
        return changeObject(postgres, principal, visitAlerts, requested, async (client, before) => {
          const id = before.visit_alert_id
          requireVersion('visit_alert', before, body.version)
          const match = await changedMatch(client, before, body)
          await requireReaders(client, before.project_id, body.member_ids ?? [], 'identity')
          await client.query(
            `UPDATE visit_alerts SET name = $2, match = $3, tier = $4, active = $5, member_ids = $6,
               unverified_charges_max = $7, chat_url = CASE WHEN $8 THEN $9 ELSE chat_url END,
               checked_until = CASE WHEN active THEN checked_until ELSE now() END,
               unverified_checked_until = CASE WHEN active THEN unverified_checked_until ELSE now() END,
               paused_by = NULL, version = version + 1, updated_at = now() WHERE visit_alert_id = $1`,
            [
              id,
              ...valuesOf({ ...before, ...body, match }),
              chatUrl !== undefined,
              sealChatUrl(secretBox, id, chatUrl),
            ],
          )
          const alert = (await readVisitAlert(client, principal.organizationId, id))!
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
        const requested = { ...query, id: params.visit_alert_id }
        await changeObject(postgres, principal, visitAlerts, requested, async (client, alert) => {
          const { visit_alert_id: id, name } = alert
          await client.query('DELETE FROM visit_alerts WHERE visit_alert_id = $1', [id])
          const object = { kind: 'visit_alert', id } as const
          await audit(client, principal, 'visit_alert.delete', object, { name })
        })
        return reply.code(204).send(null)
      },
    )
  }

/** Returns the values to store, from the name to the charged unverified visitors. */
const valuesOf = ({
  name,
  match,
  tier,
  active = true,
  member_ids = [],
  unverified_charges_max = 0,
}: Omit<VisitAlertInput, 'project_id' | 'match' | 'chat_url'> & { match: Match }) => [
  name,
  JSON.stringify(match),
  tier,
  active,
  member_ids,
  unverified_charges_max,
]
