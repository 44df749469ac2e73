import { sampleExportId, sampleRunId } from '../../activation/exports/sampleExport.ts'
import { integrationTypes } from '../../activation/integrations/destinations/destination.ts'
import { destinationTypes } from '../../activation/integrations/destinations/index.ts'
import {
  sampleIntegrationId,
  sampleSettings,
} from '../../activation/integrations/sampleIntegration.ts'
import { sampleIdentity } from '../../api/access/sandboxTenant.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import { sampleAudiences } from './sampleAudiences.ts'

const sampleCounts = { exported: 23, failed: 1, duplicated: 1 } as const
const madeAt = '2026-01-01T00:00:00Z'

/**
 * Ensures that the sample has an integration of each type, an export to it, and a finished run with a failed
 * record. These integrations have no secrets, and the service never sends data to them. Call it after the
 * sample audiences exist.
 */
export async function ensureSampleExports(postgres: Postgres): Promise<void> {
  const { projectId } = sampleIdentity
  await inTransaction(postgres, async (client) => {
    await ensureIntegrationsAndExports(client, projectId)
    await client.query(
      `INSERT INTO archives (archive_id, project_id, integration_id, active, starts_at, next_hour, created_at, updated_at)
       VALUES ($1, $2, $3, false, $4, $4, $4, $4) ON CONFLICT DO NOTHING`,
      [sampleIdentity.archiveId, projectId, sampleIntegrationId('s3'), madeAt],
    )
  })
}

async function ensureIntegrationsAndExports(client: Queryable, projectId: string): Promise<void> {
  for (const type of integrationTypes) {
    const [integrationId, exportId] = [sampleIntegrationId(type), sampleExportId(type)]
    const { rowCount } = await client.query(
      `INSERT INTO integrations (integration_id, project_id, type, name, settings, sealed_secrets, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, '', $6, $6) ON CONFLICT DO NOTHING`,
      [
        integrationId,
        projectId,
        type,
        `Sample of ${type}`,
        JSON.stringify(sampleSettings[type]),
        madeAt,
      ],
    )
    if (rowCount === 0) continue
    const outputFormat = destinationTypes[type].formats[0]
    await client.query(
      `INSERT INTO exports (export_id, project_id, name, audience_id, integration_id, output_format, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $7)`,
      [
        exportId,
        projectId,
        `Frequent visitors to ${type}`,
        sampleAudiences[0].audienceId,
        integrationId,
        outputFormat,
        madeAt,
      ],
    )
    const { exported, failed, duplicated } = sampleCounts
    await client.query(
      `INSERT INTO export_runs (run_id, export_id, output_format, status, records_exported, records_failed, records_duplicated,
           done_key, requested_by, is_project_key, requested_at, started_at, ended_at)
         VALUES ($1, $2, $3, 'completed', $5, $6, $7, $4, $2, false, $8, $8, $8)`,
      [
        sampleRunId(exportId),
        exportId,
        outputFormat,
        exported + failed + duplicated,
        exported,
        failed,
        duplicated,
        madeAt,
      ],
    )
    await client.query(
      `INSERT INTO export_outcomes (run_id, key, outcome, record, reason, class, is_charged)
         VALUES ($1, 1, 'failed', $2, 'A sample of a reason: the address is not valid.', 'never', false),
           ($1, 2, 'duplicated', $2, 'A sample of a record that was sent already.', NULL, false)`,
      [sampleRunId(exportId), '0'.repeat(64)],
    )
  }
}
