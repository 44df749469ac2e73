import type { Static } from 'typebox'
import { isUuid } from '../../../schemas/uuid.ts'
import type { RecordScope } from '../../api/access/policy.ts'
import { conflict, notFound, requireUnused } from '../../api/http/errors.ts'
import { requireVersion } from '../../api/http/optimisticLock.ts'
import { readPage } from '../../api/http/pagination.ts'
import type { SecretBox } from '../../platform/outbound/secretBox.ts'
import { readRecords } from '../../platform/postgres/records.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { uuidV7 } from '../../platform/uuidV7.ts'
import type { IntegrationType, OutputFormat } from './destinations/destination.ts'
import { destinationTypes } from './destinations/index.ts'
import { findMissingSetting } from './integrationInput.ts'
import type { Integration as IntegrationSchema } from './integrationSchemas.ts'
import type { IntegrationsDeps } from './integrationsDeps.ts'

export type Integration = Static<typeof IntegrationSchema>

/** An integration with the secrets that only its destination may see. */
export interface SealedIntegration extends Integration {
  readonly sealedSecrets: string
}

export const withoutSecrets = ({
  sealedSecrets: _,
  ...integration
}: SealedIntegration): Integration => integration

const chosen = `FROM integrations JOIN projects USING (project_id)
  WHERE organization_id = $1 AND ($2::uuid[] IS NULL OR project_id = ANY($2))
    AND ($3::uuid IS NULL OR integration_id = $3) AND ($4::text IS NULL OR type = $4)
    AND ($5::uuid IS NULL OR integration_id IN (SELECT integration_id FROM exports WHERE audience_id = $5))
    AND ($6::uuid IS NULL OR integration_id IN (
      SELECT integration_id FROM exports JOIN campaigns USING (audience_id) WHERE campaign_id = $6))`

const columns = `integration_id AS id, project_id, type, integrations.name, settings, sealed_secrets, integrations.version,
  integrations.created_at, integrations.updated_at`

interface Choice {
  integration_id?: string | undefined
  type?: IntegrationType | undefined
  audience_id?: string | undefined
  campaign_id?: string | undefined
}

const parametersOf = (scope: RecordScope, choice: Choice) => [
  scope.organizationId,
  scope.projectIds,
  choice.integration_id ?? null,
  choice.type ?? null,
  choice.audience_id ?? null,
  choice.campaign_id ?? null,
]

/** Reads an integration. Throws 404 "integration not found", also for one outside the scope. */
export async function readIntegration(
  client: Queryable,
  scope: RecordScope,
  integrationId: string,
  lock = false,
): Promise<SealedIntegration> {
  if (!isUuid(integrationId)) throw notFound.integration()
  const [row] = await readRecords<Row>(
    client,
    `SELECT ${columns} ${chosen} ${lock ? 'FOR UPDATE OF integrations' : ''}`,
    parametersOf(scope, { integration_id: integrationId }),
  )
  if (!row) throw notFound.integration()
  return { ...integrationOf(row), sealedSecrets: row.sealed_secrets }
}

/** Returns a page of integrations, oldest first. Throws 400 for an invalid cursor. */
export async function listIntegrations(
  deps: Pick<IntegrationsDeps, 'postgres' | 'cursors'>,
  scope: RecordScope,
  {
    limit,
    cursor,
    ...choice
  }: Omit<Choice, 'integration_id'> & { limit?: number; cursor?: string },
): Promise<{ integrations: Integration[]; next_cursor?: string }> {
  const { rows, next } = await readPage<Row>(
    deps,
    { limit, cursor },
    {
      list: 'integrations',
      owner: scope.organizationId,
      sql: `SELECT ${columns} ${chosen}`,
      values: parametersOf(scope, choice),
      key: { id: 'uuid' },
    },
  )
  return { integrations: rows.map(integrationOf), ...next }
}

/** Secrets that are sealed for this purpose cannot be opened for another. */
export const purposeOf = (integrationId: string): string => `integration:${integrationId}`

interface Given {
  name: string
  settings: Record<string, unknown>
  secrets?: Record<string, unknown> | undefined
}

/**
 * Creates an integration from validated settings and secrets, and returns its id. Throws 503 "not_configured"
 * if the service has no key to encrypt with.
 */
export async function createIntegration(
  client: Queryable,
  secretBox: SecretBox,
  {
    project_id,
    type,
    name,
    settings,
    secrets,
  }: Given & { project_id: string; type: IntegrationType },
): Promise<string> {
  const id = uuidV7()
  await client.query(
    `INSERT INTO integrations (integration_id, project_id, type, name, settings, sealed_secrets)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [
      id,
      project_id,
      type,
      name,
      JSON.stringify(settings),
      secretBox.seal(JSON.stringify(secrets), purposeOf(id)),
    ],
  )
  return id
}

/** Changes the given fields. Throws 409 with the current integration if `version` is not the newest. */
export async function changeIntegration(
  client: Queryable,
  secretBox: SecretBox,
  { sealedSecrets, ...integration }: SealedIntegration,
  { version, ...change }: Partial<Given> & { version?: number },
): Promise<void> {
  requireVersion('integration', integration, version)
  const { id, name, settings } = { ...integration, ...change }
  const sealed = change.secrets
    ? secretBox.seal(JSON.stringify(change.secrets), purposeOf(id))
    : sealedSecrets
  await client.query(
    `UPDATE integrations SET name = $2, settings = $3, sealed_secrets = $4, version = version + 1, updated_at = now()
     WHERE integration_id = $1`,
    [id, name, JSON.stringify(settings), sealed],
  )
}

/** Throws 409 with the exports' names if `settings` lack a setting that their format needs. */
export async function requireSettingsInUse(
  client: Queryable,
  { id, type, settings: before }: Integration,
  settings: Record<string, unknown>,
): Promise<void> {
  const { rows } = await client.query<{
    export_id: string
    name: string
    output_format: OutputFormat
  }>(
    'SELECT export_id, name, output_format FROM exports WHERE integration_id = $1 ORDER BY export_id',
    [id],
  )
  const dropped = rows.flatMap(({ output_format, ...used_by }) => {
    const setting = findMissingSetting(type, settings, output_format)
    return setting === undefined || before[setting] === undefined ? [] : [{ setting, used_by }]
  })
  if (dropped.length === 0) return
  const needed = dropped
    .map(({ setting, used_by: { name } }) => `"${name}" needs ${setting}`)
    .join(', ')
  throw conflict(
    'in_use',
    `An export needs the setting ${needed}. Keep the setting, or change or delete the export first.`,
    { used_by: dropped.map(({ used_by }) => used_by) },
  )
}

/** Deletes an integration. Throws 409 "conflict" with the exports' names while exports send to it. */
export async function deleteIntegration(client: Queryable, integrationId: string): Promise<void> {
  const { rows } = await client.query<{ export_id: string; name: string }>(
    'SELECT export_id, name FROM exports WHERE integration_id = $1 ORDER BY export_id',
    [integrationId],
  )
  requireUnused(
    rows,
    (names) => `The export ${names} uses this integration. Change or delete the export first.`,
  )
  await client.query('DELETE FROM integrations WHERE integration_id = $1', [integrationId])
}

interface Row extends Omit<Integration, 'output_formats' | 'default_mapping'> {
  sealed_secrets: string
}

const integrationOf = ({ sealed_secrets: _, ...row }: Row): Integration => ({
  ...row,
  output_formats: [...destinationTypes[row.type].formats],
  default_mapping: destinationTypes[row.type].defaultMapping?.(row.settings) ?? null,
})
