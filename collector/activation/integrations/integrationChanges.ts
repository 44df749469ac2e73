import type { Static } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import { projectFor } from '../../api/access/policy.ts'
import type { Principal } from '../../api/access/principal.ts'
import { changesOf } from '../../api/http/optimisticLock.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { requireReachable, requireSecretsForNewAddress, requireValid } from './integrationInput.ts'
import type { IntegrationChange, NewIntegration } from './integrationSchemas.ts'
import {
  changeIntegration,
  createIntegration,
  type Integration,
  readIntegration,
  requireSettingsInUse,
  withoutSecrets,
} from './integrations.ts'
import type { IntegrationsDeps } from './integrationsDeps.ts'

/**
 * Creates an integration. Throws 400 for settings and secrets that its type does not have, and for internal
 * addresses. Throws 403 and 404 for its project.
 */
export async function addIntegration(
  { postgres, outbound, secretBox }: IntegrationsDeps,
  principal: Principal,
  body: Static<typeof NewIntegration>,
): Promise<Integration> {
  const { type, settings, secrets, name } = body
  const { organizationId } = principal
  const { projectId } = await projectFor(postgres, principal, 'records', body.project_id, 'write')
  requireValid(type, 'settings', settings)
  requireValid(type, 'secrets', secrets)
  await requireReachable(outbound, settings)
  return inTransaction(postgres, async (client) => {
    const id = await createIntegration(client, secretBox, { ...body, project_id: projectId })
    await audit(
      client,
      principal,
      'integration.create',
      { kind: 'integration', id },
      { name, type },
    )
    return withoutSecrets(
      await readIntegration(client, { organizationId, projectIds: [projectId] }, id),
    )
  })
}

/** Changes the given parts. Throws as addIntegration, and 409 for a setting that an export needs. */
export async function updateIntegration(
  { postgres, recordScopeOf, outbound, secretBox }: IntegrationsDeps,
  principal: Principal,
  {
    integration_id,
    project_id: requestedProjectId,
  }: { integration_id: string; project_id?: string },
  body: Static<typeof IntegrationChange>,
): Promise<Integration> {
  const scope = await recordScopeOf(principal, requestedProjectId)
  const current = await readIntegration(postgres, scope, integration_id)
  const { type, project_id, id } = current
  await projectFor(postgres, principal, 'records', project_id, 'write')
  if (body.settings) {
    requireValid(type, 'settings', body.settings)
    requireSecretsForNewAddress(current.settings, body.settings, body.secrets)
    await requireReachable(outbound, body.settings)
  }
  if (body.secrets) requireValid(type, 'secrets', body.secrets)
  if (body.settings) await requireSettingsInUse(postgres, current, body.settings)
  return inTransaction(postgres, async (client) => {
    const before = await readIntegration(client, scope, id, true)
    if (body.settings) {
      requireSecretsForNewAddress(before.settings, body.settings, body.secrets)
      await requireSettingsInUse(client, before, body.settings)
    }
    await changeIntegration(client, secretBox, before, body)
    const integration = withoutSecrets(await readIntegration(client, scope, id))
    const details = {
      ...changesOf(withoutSecrets(before), integration),
      ...(body.secrets && { secrets: 'replaced' }),
    }
    await audit(client, principal, 'integration.update', { kind: 'integration', id }, details)
    return integration
  })
}
