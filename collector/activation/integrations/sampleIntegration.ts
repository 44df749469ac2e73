import type { Static } from 'typebox'
import { type IntegrationType, integrationTypes } from './destinations/destination.ts'
import { destinationTypes } from './destinations/index.ts'
import type { Check } from './integrationSchemas.ts'
import type { Integration } from './integrations.ts'

/** The integrations of test keys, one of each type. The service never sends data to them. */
export const sampleIntegrationId = (type: IntegrationType): string =>
  `5a3b1e00-0000-4000-8000-0000000000e${integrationTypes.indexOf(type) + 1}`

export const sampleSettings: Readonly<Record<IntegrationType, Record<string, unknown>>> = {
  hubspot: {},
  salesforce: { instance_url: 'https://sample.my.salesforce.com' },
  s3: { bucket: 'sample-bucket' },
  webhook: { url: 'https://example.com/footfall' },
  the_trade_desk: { advertiser_id: 'sample', crm_data_id: 'sample', segment_name: 'sample' },
  meta_ads: { custom_audience_id: '1' },
}

/** Returns the sample integration that a test key sees instead of one that it creates. */
export const sampleIntegrationOf = ({ type }: { type?: unknown }): string =>
  sampleIntegrationId(type as IntegrationType)

/** The result of a check with a test key, with the fields of the default mapping. Sends nothing. */
export function sampleCheck({ type, settings }: Integration, nowMs: number): Static<typeof Check> {
  const mapping = destinationTypes[type].defaultMapping?.(settings)
  return {
    works: true,
    message: 'This is a sample integration. The service never contacts it.',
    fields: mapping ? Object.keys(mapping).map((name) => ({ name, label: name })) : null,
    checked_at: new Date(nowMs).toISOString(),
  }
}
