import { companyFields } from '../../../schemas/fields.ts'
import { conflict, invalidParameter } from '../../api/http/errors.ts'
import { personFields } from '../../identity/store/people.ts'
import { isSimulated } from '../../platform/postgres/simulation.ts'
import {
  DestinationError,
  fileFormats,
  type IntegrationType,
  type OutputFormat,
} from '../integrations/destinations/destination.ts'
import { destinationTypes } from '../integrations/destinations/index.ts'
import { findMissingSetting } from '../integrations/integrationInput.ts'
import type { SealedIntegration } from '../integrations/integrations.ts'
import type { OpenDeps } from '../integrations/integrationsDeps.ts'
import { openDestination } from '../integrations/openDestination.ts'

export type Entity = 'people' | 'companies'
export type Mapping = Readonly<Record<string, string>>

export interface ExportSettings {
  readonly integration: SealedIntegration
  readonly integrationType: IntegrationType | undefined
  readonly outputFormat: OutputFormat
  readonly mapping: Mapping | null
  readonly entity: Entity
}

const dspFormats: readonly OutputFormat[] = ['ip_address', 'company_domain']

/** Throws 400 for a format that the destination or the integration lacks, and for unknown fields. */
export function requirePossible(exportSettings: ExportSettings): void {
  const { integration, integrationType, outputFormat, mapping, entity } = exportSettings
  const { type } = integration
  const destination = destinationTypes[type]
  if (integrationType !== undefined && integrationType !== type) {
    throw invalidParameter('integration_type', `must match the type of the integration, ${type}`)
  }
  if (!destination.formats.includes(outputFormat)) {
    const reserved = dspFormats.includes(outputFormat)
      ? `${outputFormat} is for DSP destinations only. `
      : outputFormat === 'crm'
        ? 'crm is for CRM destinations only. '
        : ''
    throw invalidParameter(
      'output_format',
      `${reserved}${type} accepts ${destination.formats.join(', ')}`,
    )
  }
  const missingSetting = findMissingSetting(type, integration.settings, outputFormat)
  if (missingSetting !== undefined) {
    throw invalidParameter(
      'output_format',
      `${outputFormat} needs the setting ${missingSetting} of the integration: add it, or choose another output_format`,
    )
  }
  if (entity === 'companies' && (outputFormat === 'hem' || outputFormat === 'crm')) {
    throw invalidParameter(
      'output_format',
      `${outputFormat} needs an audience of people, but this audience is of companies`,
    )
  }
  if (mapping === null) return
  if (!isMapped(outputFormat))
    throw invalidParameter('mapping', `${outputFormat} does not support a mapping`)
  const fieldNames = fieldsOf(entity)
  for (const [name, field] of Object.entries(mapping)) {
    if (!/^[A-Za-z_][A-Za-z0-9_ .-]*$/.test(name)) {
      throw invalidParameter(
        'mapping',
        `"${name}" is not a field name: it must start with a letter and contain only letters, digits, blanks, dots, dashes and underscores`,
      )
    }
    if (!fieldNames.has(field))
      throw invalidParameter(`mapping.${name}`, `${entity} do not have the field "${field}"`)
  }
  if (Object.keys(mapping).length === 0)
    throw invalidParameter('mapping', 'must name at least one field')
  const missing = destination
    .requiredFields?.(integration.settings)
    .find((name) => !(name in mapping))
  if (missing !== undefined)
    throw invalidParameter('mapping', `${type} needs the field "${missing}"`)
}

/** Returns the fault of a mapping for the destination's current fields. Throws DestinationError. */
export async function findUnknownFields(
  deps: OpenDeps,
  integration: Pick<SealedIntegration, 'id' | 'type' | 'settings' | 'sealedSecrets'>,
  { outputFormat, mapping }: Pick<ExportSettings, 'outputFormat' | 'mapping'>,
): Promise<string | null> {
  if (outputFormat !== 'crm') return null
  const used = mappingOf(integration, outputFormat, mapping)!
  const fields = await openDestination(deps, integration).fields()
  const unknown = Object.keys(used).filter((name) => !fields?.some((field) => field.name === name))
  if (unknown.length === 0) return null
  const named = unknown.map((name) => `"${name}"`).join(', ')
  return `${integration.type} has no writable ${unknown.length === 1 ? 'field' : 'fields'} ${named}`
}

/**
 * Throws 400 for a mapping to fields that the destination lacks, and 409 if the customer must correct the
 * integration first. While the destination is unreachable the mapping is accepted: each run checks it again
 * before it sends.
 */
export async function requireFields(deps: OpenDeps, exportSettings: ExportSettings): Promise<void> {
  // Requests of a test key contact no destination.
  if (isSimulated()) return
  try {
    const fault = await findUnknownFields(deps, exportSettings.integration, exportSettings)
    if (fault !== null) throw invalidParameter('mapping', fault)
  } catch (error) {
    if (!(error instanceof DestinationError)) throw error
    if (error.failureClass === 'retry') return
    throw conflict(
      'invalid_state',
      `The destination does not list its fields: ${error.message} Fix the integration, then save the export again.`,
    )
  }
}

/** Returns the mapping in use; null: all fields. */
export const mappingOf = (
  { type, settings }: Pick<SealedIntegration, 'type' | 'settings'>,
  outputFormat: OutputFormat,
  mapping: Mapping | null,
): Mapping | null =>
  mapping ??
  (outputFormat === 'crm' ? (destinationTypes[type].defaultMapping?.(settings) ?? null) : null)

const isMapped = (format: OutputFormat): boolean =>
  format === 'crm' || (fileFormats as readonly OutputFormat[]).includes(format)

const fieldsOf = (entity: Entity): ReadonlySet<string> =>
  new Set((entity === 'people' ? personFields : companyFields).map(({ name }) => name))
