import { type IntegrationType, integrationTypes } from '../integrations/destinations/destination.ts'

/** The exports that test keys see, one to each sample integration, and the one run of each, which sent nothing. */
export const sampleExportId = (type: IntegrationType): string =>
  `5a3b1e00-0000-4000-8000-0000000000f${integrationTypes.indexOf(type) + 1}`
export const sampleRunId = (exportId: string): string =>
  `${exportId.slice(0, 24)}1${exportId.slice(25)}`

/** Which of them stands for an export that a test key makes. */
export const sampleExportOf = ({ integration_type }: { integration_type?: unknown }): string =>
  sampleExportId(integration_type as IntegrationType)

/** Which run stands for one that a test key asks for. */
export const sampleRunOf = ({ export_id }: { export_id?: unknown }): string =>
  sampleRunId(export_id as string)
