import type { Export } from '../../api.ts'

/** Fields of each type of destination: its settings, and the secrets that are stored encrypted. */
export interface DestinationField {
  name: string
  label: string
  isOptional?: true
  isSecret?: true
}

/** Names of the formats of exports. */
export const formatNames: Record<Export['output_format'], string> = {
  csv: 'CSV',
  ndjson: 'JSON lines',
  parquet: 'Parquet',
  hem: 'Hashed e-mails',
  crm: 'CRM fields',
  company_domain: 'Company domains',
  ip_address: 'IP addresses',
}

export const destinationNames = {
  hubspot: 'HubSpot',
  salesforce: 'Salesforce',
  s3: 'S3-compatible store',
  webhook: 'Webhook',
  the_trade_desk: 'The Trade Desk',
  meta_ads: 'Meta Ads',
} as const
export type DestinationType = keyof typeof destinationNames

const setting = (name: string, label: string): DestinationField => ({ name, label })
const optional = (name: string, label: string): DestinationField => ({
  name,
  label,
  isOptional: true,
})
const secret = (name: string, label: string): DestinationField => ({ name, label, isSecret: true })

export const destinationFields: Record<DestinationType, readonly DestinationField[]> = {
  hubspot: [secret('access_token', 'Access token of a private app')],
  salesforce: [
    setting('instance_url', 'Instance URL'),
    optional('object', 'Object: Contact or Lead'),
    optional('external_id_field', 'External id field'),
    secret('client_id', 'Client id'),
    secret('client_secret', 'Client secret'),
    { ...secret('refresh_token', 'Refresh token'), isOptional: true },
  ],
  s3: [
    setting('bucket', 'Bucket'),
    optional('endpoint', 'Endpoint (default: AWS)'),
    optional('region', 'Region'),
    optional('prefix', 'Prefix of file names'),
    secret('access_key_id', 'Access key id'),
    secret('secret_access_key', 'Secret access key'),
  ],
  webhook: [setting('url', 'Address'), secret('signing_secret', 'Signing secret (whsec_…)')],
  the_trade_desk: [
    setting('advertiser_id', 'Advertiser id'),
    optional('crm_data_id', 'CRM data id'),
    optional('segment_name', 'Segment name'),
    secret('api_token', 'API token'),
  ],
  meta_ads: [
    setting('custom_audience_id', 'Custom audience id'),
    secret('access_token', 'Access token'),
  ],
}
