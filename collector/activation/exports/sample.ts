import { sampleIdentity } from '../../api/access/sampleView.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { type IntegrationType, integrationTypes } from '../integrations/destinations/destination.ts'
import { sampleIntegrationId } from '../integrations/sample.ts'
import type { Export } from './exports.ts'
import { type Run, readRun } from './runs.ts'

/** The exports that test keys see, one to each sample integration, and the one run of each, which sent nothing. */
export const sampleExportId = (type: IntegrationType): string =>
  `5a3b1e00-0000-4000-8000-0000000000f${integrationTypes.indexOf(type) + 1}`
export const sampleRunId = (exportId: string): string =>
  `${exportId.slice(0, 24)}1${exportId.slice(25)}`

const madeAt = '2026-01-01T00:00:00.000Z'

/** What a test key is answered when it creates or changes an export: the sample one of the type, as it would be. */
export const sampleExportOf = (
  type: IntegrationType,
  given: Pick<Export, 'name' | 'audience_id' | 'list_id' | 'output_format' | 'mapping'> & {
    schedule?: Export['schedule'] | undefined
  },
): Export => ({
  id: sampleExportId(type),
  project_id: sampleIdentity.projectId,
  name: given.name,
  audience_id: given.audience_id,
  list_id: given.list_id,
  integration_id: sampleIntegrationId(type),
  integration_type: type,
  output_format: given.output_format,
  mapping: given.mapping,
  schedule: given.schedule ?? 'manual',
  version: 1,
  created_at: madeAt,
  updated_at: madeAt,
})

/** What a test key is answered when it asks for a run. */
export const readSampleRun = (client: Queryable, exportId: string): Promise<Run> =>
  readRun(client, exportId, sampleRunId(exportId))
