import { randomUUID } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import { lockProject } from '../../api/access/locks.ts'
import {
  changeObject,
  type ObjectKind,
  objectFor,
  objectProject,
} from '../../api/access/projectObjects.ts'
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

interface AlertsDeps extends ReadDeps {
  outbound: Outbound
  secretBox: SecretBox
}

type Input = Static<typeof AlertInput>

const path = '/api/v1/analytics/alerts'
const ById = strictObject({ alert_id: Id })
const ProjectQuery = strictObject({ project_id: Type.Optional(Id) })
const alerts: ObjectKind<Alert> = { read: readAlert, missing: notFound.alert }

/** /api/v1/analytics/alerts: conditions on a project's figures. */
export const alertsRoutes =
  (deps: AlertsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres } = deps
    const writes = { access: { ...mayRead, keyRole: 'write' } } as const
    app.addHook('preValidation', rejectUnstorableText)

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
        const projectId = await objectProject(postgres, principal, query.project_id, 'read')
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
        const projectId = await objectProject(postgres, principal, body.project_id, 'write')
        const chatUrl = await readChatUrl(deps.outbound, body.chat_url)
        const alertId = randomUUID()
        const alert = await inTransaction(postgres, async (client) => {
          await lockProject(client, projectId)
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
        alert: await objectFor(
          postgres,
          principal,
          alerts,
          { ...query, id: params.alert_id },
          'read',
        ),
      }),
    )

    app.patch(
      `${path}/:alert_id`,
      {
        config: writes,
        schema: {
          tags: settingsTags,
          operationId: 'updateAlert',
          summary: 'Update an alert',
          description:
            'Requires the project admin role. Omitted fields keep their values. Another condition starts as normal, so it is reported if it holds.',
          params: ById,
          querystring: ProjectQuery,
          body: AlertChange,
          response: { 200: Type.Object({ alert: Alert }) },
        },
      },
      async ({ principal, params, query, body }) => {
        const chatUrl = await readChatUrl(deps.outbound, body.chat_url)
        const requested = { ...query, id: params.alert_id }
        return changeObject(postgres, principal, alerts, requested, async (client, before) => {
          const { alert_id: id, project_id: projectId } = before
          requireVersion('alert', before, body.version)
          await requireGood(client, projectId, body)
          await client.query(
            `UPDATE alerts SET name = $2, condition = $3, active = $4, member_ids = $5,
               chat_url = CASE WHEN $6 THEN $7 ELSE chat_url END, is_raised = is_raised AND condition = $3 AND $4,
               version = version + 1, updated_at = now() WHERE alert_id = $1`,
            [
              id,
              ...valuesOf({ ...before, ...body }),
              chatUrl !== undefined,
              sealChatUrl(deps.secretBox, id, chatUrl),
            ],
          )
          const alert = (await readAlert(client, principal.organizationId, id))!
          const object = { kind: 'alert', id } as const
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
        const requested = { ...query, id: params.alert_id }
        await changeObject(postgres, principal, alerts, requested, async (client, alert) => {
          const { alert_id: id, name } = alert
          await client.query('DELETE FROM alerts WHERE alert_id = $1', [id])
          await audit(client, principal, 'alert.delete', { kind: 'alert', id }, { name })
        })
        return reply.code(204).send(null)
      },
    )
  }

const valuesOf = ({
  name,
  condition,
  active = true,
  member_ids = [],
}: Pick<Input, 'name' | 'condition' | 'active' | 'member_ids'>) => [
  name,
  JSON.stringify(completeCondition(condition)),
  active,
  member_ids,
]

/** Throws 400 for a condition that cannot be checked, and for members who cannot see the project. */
async function requireGood(
  client: Queryable,
  projectId: string,
  { condition, member_ids = [] }: Pick<Partial<Input>, 'condition' | 'member_ids'>,
): Promise<void> {
  if (condition) {
    readEventFilters('condition.filter', condition.filter)
    const { goals } = await readGoals(client, projectId)
    const fault = conditionFault(completeCondition(condition), goals)
    if (fault) throw invalidParameter(`condition.${fault[0]}`, fault[1])
  }
  await requireReaders(client, projectId, member_ids, 'read')
}
