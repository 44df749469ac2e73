import { type IntegrationType, integrationTypes } from '../integrations/destinations/destination.ts'

/** The exports of test keys, one to each sample integration, each with one run that sent nothing. */
export const sampleExportId = (type: IntegrationType): string =>
  `5a3b1e00-0000-4000-8000-0000000000f${integrationTypes.indexOf(type) + 1}`
export const sampleRunId = (exportId: string): string =>
  `${exportId.slice(0, 24)}1${exportId.slice(25)}`

/** Returns the sample export that a test key sees instead of one that it creates. */
export const sampleExportOf = ({ integration_type }: { integration_type?: unknown }): string =>
  sampleExportId(integration_type as IntegrationType)

/** Returns the sample run that a test key sees instead of one that it requests. */
export const sampleRunOf = ({ export_id }: { export_id?: unknown }): string =>
  sampleRunId(export_id as string)
