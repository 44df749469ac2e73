import { randomUUID } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import { projectFor, projectOfObject } from '../../api/access/policy.ts'
import type { Principal } from '../../api/access/principal.ts'
import { sampleIdentity } from '../../api/access/sandboxTenant.ts'
import { Id, strictObject } from '../../api/http/commonSchemas.ts'
import { conflict, invalidParameter, notFound } from '../../api/http/errors.ts'
import { changesOf, requireVersion } from '../../api/http/optimisticLock.ts'
import { rejectUnstorableText } from '../../api/http/rejectUnstorableText.ts'
import type { ReadDeps } from '../../events/query/readDeps.ts'
import type { Outbound } from '../../platform/outbound/outbound.ts'
import type { SecretBox } from '../../platform/outbound/secretBox.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import { settingsTags } from '../analyticsSchemas.ts'
import { readEventFilters } from '../figuresRequest.ts'
import { readGoals } from '../goals.ts'
import { mayRead } from '../openFigures.ts'
import { readChatUrl, requireReaders, sealChatUrl } from './alertChannels.ts'
import { Alert, AlertChange, AlertInput, alertsMax, listAlerts, readAlert } from './alerts.ts'
import { completeCondition, conditionFault } from './condition.ts'

export interface AlertsDeps extends ReadDeps {
  outbound: Outbound
  secretBox: SecretBox
}

type Input = Static<typeof AlertInput>

const path = '/api/v1/analytics/alerts'
const ById = strictObject({ alert_id: Id })
const ProjectQuery = strictObject({ project_id: Type.Optional(Id) })

/**
 * /api/v1/analytics/alerts: conditions on a project's figures. Alerts report when a condition begins and
 * ends.
 */
export const alertsRoutes =
  (deps: AlertsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres } = deps
    const writes = { access: { ...mayRead, keyRole: 'write' } } as const
    app.addHook('preValidation', rejectUnstorableText)

    /** Reads an alert whose project the caller may read or change. */
    const alertFor = async (
      client: Queryable,
      principal: Principal,
      alertId: string,
      action: 'read' | 'write',
      named: string | undefined,
    ): Promise<Alert> => {
      if (named !== undefined) await projectFor(postgres, principal, 'events', named, action)
      const alert = await readAlert(client, principal.organizationId, alertId)
      const isOfOther = named !== undefined && named !== alert?.project_id
      if (!alert || isOfOther) throw notFound.alert()
      const object = { projectId: alert.project_id, missing: notFound.alert }
      await projectOfObject(postgres, principal, 'events', object, action)
      return alert
    }

    app.get(
      path,
      {
        config: { access: mayRead },
        schema: {
          tags: settingsTags,
          operationId: 'listAlerts',
          summary: 'List the alerts of a project',
          description:
            'Returns the alerts of a project that the caller can access, oldest first. Never billed.',
          querystring: strictObject({ project_id: Id }),
          response: { 200: Type.Object({ alerts: Type.Array(Alert) }) },
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
        return { alerts: await listAlerts(postgres, projectId) }
      },
    )

    app.post(
      path,
      {
        config: { ...writes, sampleIds: { alert: sampleIdentity.alertId } },
        schema: {
          tags: settingsTags,
          operationId: 'createAlert',
          summary: 'Create an alert',
          description: `Requires the project admin role. Footfall checks the condition once a minute. It reports by mail, webhook (\`alert.raised\`) and chat when the condition begins to hold, and once more when it ends (\`alert.resolved\`). A project has at most ${alertsMax} alerts.`,
          body: AlertInput,
          response: { 201: Type.Object({ alert: Alert }) },
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
        const chatUrl = await readChatUrl(deps.outbound, body.chat_url)
        const alertId = randomUUID()
        const alert = await inTransaction(postgres, async (client) => {
          await client.query('SELECT FROM projects WHERE project_id = $1 FOR NO KEY UPDATE', [
            projectId,
          ])
          await requireGood(client, projectId, body)
          if ((await listAlerts(client, projectId)).length >= alertsMax)
            throw conflict('count_limit_reached', `A project has at most ${alertsMax} alerts.`)
          await client.query(
            `INSERT INTO alerts (alert_id, project_id, name, condition, active, member_ids, chat_url)
             VALUES ($1, $2, $3, $4, $5, $6, $7)`,
            [alertId, projectId, ...valuesOf(body), sealChatUrl(deps.secretBox, alertId, chatUrl)],
          )
          const object = { kind: 'alert', id: alertId } as const
          await audit(client, principal, 'alert.create', object, { name: body.name })
          return (await readAlert(client, principal.organizationId, alertId))!
        })
        return reply.code(201).send({ alert })
      },
    )

    app.get(
      `${path}/:alert_id`,
      {
        config: { access: mayRead },
        schema: {
          tags: settingsTags,
          operationId: 'getAlert',
          summary: 'Get an alert',
          description: 'Returns an alert of a project that the caller can access. Never billed.',
          params: ById,
          querystring: ProjectQuery,
          response: { 200: Type.Object({ alert: Alert }) },
        },
      },
      async ({ principal, params, query }) => ({
        alert: await alertFor(postgres, principal, params.alert_id, 'read', query.project_id),
      }),
    )

    app.put(
      `${path}/:alert_id`,
      {
        config: writes,
        schema: {
          tags: settingsTags,
          operationId: 'updateAlert',
          summary: 'Update an alert',
          description:
            'Requires the project admin role. Replaces the settings. Another condition starts as normal, so it is reported if it holds. `project_id` must be the project of the alert.',
          params: ById,
          body: AlertChange,
          response: { 200: Type.Object({ alert: Alert }) },
        },
      },
      async ({ principal, params, body }) => {
        const { alert_id: alertId, project_id: projectId } = await alertFor(
          postgres,
          principal,
          params.alert_id,
          'write',
          body.project_id,
        )
        const chatUrl = await readChatUrl(deps.outbound, body.chat_url)
        return inTransaction(postgres, async (client) => {
          const { organizationId } = principal
          const before = await readAlert(client, organizationId, alertId, 'FOR UPDATE OF alerts')
          if (!before) throw notFound.alert()
          requireVersion('alert', before, body.version)
          await requireGood(client, projectId, body)
          await client.query(
            `UPDATE alerts SET name = $2, condition = $3, active = $4, member_ids = $5,
               chat_url = CASE WHEN $6 THEN $7 ELSE chat_url END, is_raised = is_raised AND condition = $3 AND $4,
               version = version + 1, updated_at = now() WHERE alert_id = $1`,
            [
              alertId,
              ...valuesOf(body),
              chatUrl !== undefined,
              sealChatUrl(deps.secretBox, alertId, chatUrl),
            ],
          )
          const alert = (await readAlert(client, organizationId, alertId))!
          const object = { kind: 'alert', id: alertId } as const
          await audit(client, principal, 'alert.update', object, changesOf(before, alert))
          return { alert }
        })
      },
    )

    app.delete(
      `${path}/:alert_id`,
      {
        config: writes,
        schema: {
          tags: settingsTags,
          operationId: 'deleteAlert',
          summary: 'Delete an alert',
          description: 'Requires the project admin role. Nothing more is reported.',
          params: ById,
          querystring: ProjectQuery,
          response: { 204: Type.Null() },
        },
      },
      async ({ principal, params, query }, reply) => {
        const { alert_id, project_id } = { ...params, ...query }
        const alert = await alertFor(postgres, principal, alert_id, 'write', project_id)
        await inTransaction(postgres, async (client) => {
          await client.query('DELETE FROM alerts WHERE alert_id = $1', [alert.alert_id])
          const object = { kind: 'alert', id: alert.alert_id } as const
          await audit(client, principal, 'alert.delete', object, { name: alert.name })
        })
        return reply.code(204).send(null)
      },
    )
  }

const valuesOf = ({ name, condition, active = true, member_ids = [] }: Input) => [
  name,
  JSON.stringify(completeCondition(condition)),
  active,
  member_ids,
]

/** Throws 400 for a condition that cannot be checked, and for members who cannot see the project. */
async function requireGood(
  client: Queryable,
  projectId: string,
  { condition, member_ids = [] }: Input,
): Promise<void> {
  readEventFilters('condition.filter', condition.filter)
  const fault = conditionFault(
    completeCondition(condition),
    (await readGoals(client, projectId)).goals,
  )
  if (fault) throw invalidParameter(`condition.${fault[0]}`, fault[1])
  await requireReaders(client, projectId, member_ids, 'read')
}
