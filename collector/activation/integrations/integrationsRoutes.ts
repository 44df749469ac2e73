import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import { changeRecord } from '../../api/access/changeRecord.ts'
import { projectFor, requireFiltersAllowed } from '../../api/access/policy.ts'
import type { Principal } from '../../api/access/principal.ts'
import { access, writeAccess } from '../../api/access/recordAccess.ts'
import { rejectUnstorableText } from '../../api/http/rejectUnstorableText.ts'
import { DestinationError } from './destinations/destination.ts'
import { addIntegration, updateIntegration } from './integrationChanges.ts'
import {
  ById,
  type Check,
  Checked,
  IntegrationChange,
  ListQuery,
  NewIntegration,
  One,
  Page,
  ProjectQuery,
  tags,
} from './integrationSchemas.ts'
import {
  deleteIntegration,
  listIntegrations,
  readIntegration,
  type SealedIntegration,
  withoutSecrets,
} from './integrations.ts'
import type { IntegrationsDeps, OpenDeps } from './integrationsDeps.ts'
import { openDestination } from './openDestination.ts'
import { sampleCheck, sampleIntegrationOf } from './sampleIntegration.ts'

const path = '/api/v1/integrations'
const onePath = `${path}/:integration_id`
const testKeys = ' With a test key, nothing is stored or sent.'

/** RFC 9745: since when a check by GET is deprecated, in seconds. */
const getDeprecated = `@${Date.UTC(2026, 10, 24) / 1000}`

/** /api/v1/integrations: destinations that exports send to, with their secrets. */
export const integrationsRoutes =
  (deps: IntegrationsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, recordScopeOf } = deps
    app.addHook('preValidation', rejectUnstorableText)

    app.get(
      path,
      {
        config: { access },
        schema: {
          tags,
          operationId: 'listIntegrations',
          summary: 'List integrations',
          querystring: ListQuery,
          description:
            'Returns the integrations of `project_id`, or of every project that the caller can access. Sorted by creation time, oldest first.',
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
          tags,
          operationId: 'getIntegration',
          summary: 'Get an integration',
          params: ById,
          description: 'Returns the integration without its secrets.',
          querystring: ProjectQuery,
          response: { 200: One },
        },
      },
      async ({ principal, params, query }) => {
        const scope = await recordScopeOf(principal, query.project_id)
        return {
          integration: withoutSecrets(
            await readIntegration(postgres, scope, params.integration_id),
          ),
        }
      },
    )

    app.post(
      path,
      {
        config: { access: writeAccess, sampleIds: { integration: sampleIntegrationOf } },
        schema: {
          tags,
          operationId: 'createIntegration',
          summary: 'Create an integration',
          description: `Requires the project admin role. Project keys can omit \`project_id\`. \`POST …/{integration_id}/check\` tests the connection.${testKeys}`,
          body: NewIntegration,
          response: { 201: One },
        },
      },
      async ({ principal, body }, reply) =>
        reply.code(201).send({ integration: await addIntegration(deps, principal, body) }),
    )

    app.patch(
      onePath,
      {
        config: { access: writeAccess },
        schema: {
          tags,
          operationId: 'updateIntegration',
          summary: 'Update an integration',
          params: ById,
          description: `Requires the project admin role. Omitted fields keep their values; \`settings\` and \`secrets\` are replaced completely. If an address in the settings changes, send the secrets again. Settings that an export needs cannot be removed. Runs in progress use the new values.${testKeys}`,
          querystring: ProjectQuery,
          body: IntegrationChange,
          response: { 200: One },
        },
      },
      async ({ principal, params, query, body }) => ({
        integration: await updateIntegration(deps, principal, { ...params, ...query }, body),
      }),
    )

    app.delete(
      onePath,
      {
        config: { access: writeAccess, refusals: { 409: 'An export uses it.' } },
        schema: {
          tags,
          operationId: 'deleteIntegration',
          summary: 'Delete an integration',
          params: ById,
          description: `Requires the project admin role. Returns 409 with the name of an export that uses it.${testKeys}`,
          querystring: ProjectQuery,
          response: { 204: Type.Null({ description: 'Deleted.' }) },
        },
      },
      async (request, reply) => {
        const { principal, params } = request
        await changeRecord(
          deps,
          request,
          readIntegration,
          params.integration_id,
          async (client, { id, name }) => {
            await deleteIntegration(client, id)
            await audit(
              client,
              principal,
              'integration.delete',
              { kind: 'integration', id },
              { name },
            )
          },
        )
        return reply.code(204).send(null)
      },
    )

    const check = {
      config: { access: writeAccess },
      schema: {
        tags,
        params: ById,
        querystring: ProjectQuery,
        response: { 200: Checked },
        description:
          'Requires the project admin role. Tests the secrets and reads the fields of the destination. A webhook receives a message of the type `export.check`. `message` has the reason if the integration does not work or the destination is unreachable. With a test key nothing is sent.',
      },
    }
    const runCheck = async (
      principal: Principal,
      { integration_id, project_id }: { integration_id: string; project_id?: string },
    ): Promise<Static<typeof Checked>> => {
      const scope = await recordScopeOf(principal, project_id)
      const integration = await readIntegration(postgres, scope, integration_id)
      if (principal.mode === 'test') return { check: sampleCheck(integration, deps.now()) }
      await projectFor(postgres, principal, 'records', integration.project_id, 'write')
      return { check: await checkIntegration(deps, integration) }
    }

    app.post(
      `${onePath}/check`,
      {
        ...check,
        schema: {
          ...check.schema,
          operationId: 'checkIntegration',
          summary: 'Check an integration',
        },
      },
      ({ principal, params, query }) => runCheck(principal, { ...params, ...query }),
    )

    app.get(
      `${onePath}/check`,
      {
        ...check,
        schema: {
          ...check.schema,
          operationId: 'checkIntegrationByGet',
          summary: 'Check an integration (GET)',
          deprecated: true,
          description: `Use \`POST …/{integration_id}/check\`: a check sends a request. ${check.schema.description}`,
        },
      },
      async ({ principal, params, query }, reply) => {
        reply.header('deprecation', getDeprecated)
        return runCheck(principal, { ...params, ...query })
      },
    )
  }

async function checkIntegration(
  deps: OpenDeps,
  integration: SealedIntegration,
): Promise<Static<typeof Check>> {
  const checked_at = new Date(deps.now()).toISOString()
  try {
    const destination = openDestination(deps, integration)
    const message = await destination.check()
    const fields = await destination.fields()
    return {
      works: true,
      message,
      checked_at,
      fields: fields?.map(({ name, label }) => ({ name, label })) ?? null,
    }
  } catch (error) {
    if (!(error instanceof DestinationError)) throw error
    return { works: false, message: error.message, fields: null, checked_at }
  }
}
