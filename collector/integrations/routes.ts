import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { audit } from '../access/audit.ts'
import { projectFor } from '../access/permissions.ts'
import { access, writeAccess } from '../access/recordAccess.ts'
import { requireFiltersAllowed, requireKeyProject } from '../access/recordScope.ts'
import { sampleIdentity } from '../access/sampleView.ts'
import { changesOf } from '../http/optimisticLock.ts'
import { rejectUnstorableText } from '../http/rejectUnstorableText.ts'
import { inTransaction } from '../platform/postgres/transaction.ts'
import { checkIntegration } from './check.ts'
import type { IntegrationsDeps } from './deps.ts'
import { requireReachable, requireSecretsForNewAddress, requireValid } from './given.ts'
import {
  changeIntegration,
  createIntegration,
  deleteIntegration,
  type Integration,
  listIntegrations,
  readIntegration,
  type SealedIntegration,
} from './integrations.ts'
import { sampleCheck, sampleIntegrationOf } from './sample.ts'
import {
  ById,
  Checked,
  IntegrationChange,
  ListQuery,
  NewIntegration,
  One,
  Page,
  ProjectQuery,
  tags,
} from './schemas.ts'

const path = '/api/v1/integrations'
const onePath = `${path}/:integration_id`
const testKeys = ' With a test key nothing is kept and nothing sent: the answer is what it would be.'

/** /api/v1/integrations: destinations that exports send to, with their secrets. */
export const integrationsRoutes =
  (deps: IntegrationsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, recordScopeOf, outbound, sealer } = deps
    app.addHook('preValidation', rejectUnstorableText)

    app.get(
      path,
      {
        config: { access },
        schema: {
          ...{ tags, operationId: 'listIntegrations', summary: 'List integrations', querystring: ListQuery },
          description:
            'Of one project, else of the key’s, else of all that the caller may see; oldest first.',
          response: { 200: Page },
        },
      },
      async ({ principal, query }) => {
        const { project_id, ...page } = query
        requireFiltersAllowed(principal, page)
        return listIntegrations(deps, await recordScopeOf(principal, project_id), page)
      },
    )

    app.get(
      onePath,
      {
        config: { access },
        schema: {
          ...{ tags, operationId: 'getIntegration', summary: 'Get an integration', params: ById },
          description: 'Its secrets are never answered.',
          querystring: ProjectQuery,
          response: { 200: One },
        },
      },
      async ({ principal, params, query }) => {
        const scope = await recordScopeOf(principal, query.project_id)
        return { integration: shown(await readIntegration(postgres, scope, params.integration_id)) }
      },
    )

    app.post(
      path,
      {
        config: { access: writeAccess },
        schema: {
          ...{ tags, operationId: 'createIntegration', summary: 'Create an integration' },
          description:
            'project_id may be left out with a key of one project. Takes an admin of the project. Whether it works is ' +
            `told by \`GET …/{integration_id}/check\`.${testKeys}`,
          body: NewIntegration,
          response: { 201: One },
        },
      },
      async ({ principal, body }, reply) => {
        const { project_id, type, settings, secrets, name } = body
        const isTest = principal.mode === 'test'
        // A test key's project is the sample's, whichever of its own it names.
        const asked = isTest ? sampleIdentity.projectId : project_id
        requireKeyProject(principal, asked)
        const { projectId } = await projectFor(postgres, principal, asked, 'write')
        requireValid(type, 'settings', settings)
        requireValid(type, 'secrets', secrets)
        await requireReachable(outbound, settings)
        if (isTest)
          return reply.code(201).send({ integration: sampleIntegrationOf(type, { name, settings }) })
        const integration = await inTransaction(postgres, async (client) => {
          const id = await createIntegration(client, sealer, { ...body, project_id: projectId })
          await audit(client, principal, 'integration.create', { kind: 'integration', id }, { name, type })
          return readIntegration(client, scopeOfProject(principal.organizationId, projectId), id)
        })
        return reply.code(201).send({ integration: shown(integration) })
      },
    )

    app.patch(
      onePath,
      {
        config: { access: writeAccess },
        schema: {
          ...{ tags, operationId: 'updateIntegration', summary: 'Update an integration', params: ById },
          description:
            'What is not named stays; `settings` and `secrets` are replaced whole. Where an address among the settings ' +
            `changes, the secrets are to be given again. Runs that are under way go on with what is changed.${testKeys}`,
          body: IntegrationChange,
          response: { 200: One },
        },
      },
      async ({ principal, params, body }) => {
        const scope = await recordScopeOf(principal, undefined)
        const found = await readIntegration(postgres, scope, params.integration_id)
        const { type, project_id, id } = found
        if (principal.mode === 'live') await projectFor(postgres, principal, project_id, 'write')
        if (body.settings) {
          requireValid(type, 'settings', body.settings)
          requireSecretsForNewAddress(found.settings, body.settings, body.secrets)
          await requireReachable(outbound, body.settings)
        }
        if (body.secrets) requireValid(type, 'secrets', body.secrets)
        if (principal.mode === 'test') {
          const { name = found.name, settings = found.settings } = body
          return { integration: sampleIntegrationOf(type, { name, settings }) }
        }
        return inTransaction(postgres, async (client) => {
          const before = await readIntegration(client, scope, id, true)
          if (body.settings) requireSecretsForNewAddress(before.settings, body.settings, body.secrets)
          await changeIntegration(client, sealer, before, body)
          const integration = shown(await readIntegration(client, scope, id))
          const details = {
            ...changesOf(shown(before), integration),
            ...(body.secrets && { secrets: 'replaced' }),
          }
          await audit(client, principal, 'integration.update', { kind: 'integration', id }, details)
          return { integration }
        })
      },
    )

    app.delete(
      onePath,
      {
        config: { access: writeAccess, refusals: { 409: 'An export sends to it.' } },
        schema: {
          ...{ tags, operationId: 'deleteIntegration', summary: 'Delete an integration', params: ById },
          description: `409 while an export sends to it, naming which.${testKeys}`,
          querystring: ProjectQuery,
          response: { 204: Type.Null({ description: 'Deleted.' }) },
        },
      },
      async ({ principal, params, query }, reply) => {
        const scope = await recordScopeOf(principal, query.project_id)
        const { id, project_id, name } = await readIntegration(postgres, scope, params.integration_id)
        if (principal.mode === 'test') return reply.code(204).send(null)
        await projectFor(postgres, principal, project_id, 'write')
        await inTransaction(postgres, async (client) => {
          await readIntegration(client, scope, id, true)
          await deleteIntegration(client, id)
          await audit(client, principal, 'integration.delete', { kind: 'integration', id }, { name })
        })
        return reply.code(204).send(null)
      },
    )

    app.get(
      `${onePath}/check`,
      {
        config: { access: writeAccess },
        schema: {
          ...{ tags, operationId: 'checkIntegration', summary: 'Check whether an integration works' },
          description:
            'Asks the destination whether it lets us in, and which fields it has; a webhook is posted a message of the ' +
            'type `export.check`. Takes an admin of the project, like everything that sends. With a test key nothing is asked.',
          params: ById,
          querystring: ProjectQuery,
          response: { 200: Checked },
        },
      },
      async ({ principal, params, query }) => {
        const scope = await recordScopeOf(principal, query.project_id)
        const integration = await readIntegration(postgres, scope, params.integration_id)
        if (principal.mode === 'test') return { check: sampleCheck(integration, deps.now()) }
        await projectFor(postgres, principal, integration.project_id, 'write')
        return { check: await checkIntegration(deps, integration) }
      },
    )
  }

const shown = ({ sealedSecrets: _, ...integration }: SealedIntegration): Integration => integration

const scopeOfProject = (organizationId: string, projectId: string) => ({
  organizationId,
  projectIds: [projectId],
})
