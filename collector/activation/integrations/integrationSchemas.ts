import { Type } from 'typebox'
import {
  Choice,
  Id,
  Name,
  Nullable,
  SeenVersion,
  strictObject,
  Timestamp,
  Version,
} from '../../api/http/commonSchemas.ts'
import { NextCursor, pageQuery } from '../../api/http/pagination.ts'
import { integrationTypes, outputFormats } from './destinations/destination.ts'

export const tags = ['Integrations']

export const IntegrationType = Choice(integrationTypes, {
  description: '`hubspot` and `salesforce` are CRMs, `the_trade_desk` is a DSP.',
})
const OutputFormat = Choice(outputFormats)

const Settings = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'By type. `hubspot`: `api_base?`. `salesforce`: `instance_url`, `object?` (Contact, Lead), `external_id_field?`. ' +
    '`s3`: `endpoint?`, `bucket`, `region?`, `prefix?`. `webhook`: `url`. `the_trade_desk`: `advertiser_id`, ' +
    '`crm_data_id?`, `segment_name?`, `api_base?`, `data_base?`. `meta_ads`: `custom_audience_id`, `api_base?`.',
})
const Secrets = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'By type. Stored encrypted and never returned. `hubspot`: `access_token`. `salesforce`: `client_id`, `client_secret`, `refresh_token?`. `s3`: `access_key_id`, `secret_access_key`. `webhook`: `signing_secret` (whsec_…). `the_trade_desk`: `api_token`. `meta_ads`: `access_token`.',
})

export const Integration = Type.Object(
  {
    id: Id,
    project_id: Id,
    type: IntegrationType,
    name: Type.String(),
    settings: Settings,
    output_formats: Type.Array(OutputFormat, {
      description: 'The output formats that it accepts.',
    }),
    default_mapping: Nullable(Type.Record(Type.String(), Type.String()), {
      description:
        'Field of the destination → Footfall field, for `crm` exports without a mapping. Null if it is not a CRM.',
    }),
    version: Version,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Integration' },
)

const Field = Type.Object({ name: Type.String(), label: Type.String() })

export const Check = Type.Object(
  {
    works: Type.Boolean(),
    message: Type.String({ description: 'The result in plain words.' }),
    fields: Nullable(Type.Array(Field, { description: 'The fields that a mapping can name.' }), {
      description: 'Null if it accepts any field, or does not work.',
    }),
    checked_at: Timestamp,
  },
  { title: 'IntegrationCheck' },
)

export const Checked = Type.Object({ check: Check })

const project = { project_id: Type.Optional(Id) }

export const NewIntegration = strictObject({
  ...project,
  type: IntegrationType,
  name: Name,
  settings: Settings,
  secrets: Secrets,
})

export const IntegrationChange = strictObject({
  name: Type.Optional(Name),
  settings: Type.Optional(Settings),
  secrets: Type.Optional(Secrets),
  version: SeenVersion,
})

export const ById = strictObject({ integration_id: Type.String() })
export const ProjectQuery = strictObject(project)
export const ListQuery = strictObject({
  ...project,
  type: Type.Optional(IntegrationType),
  audience_id: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'Only integrations of exports of this audience. Not available to project keys.',
    }),
  ),
  campaign_id: Type.Optional(
    Type.String({
      format: 'uuid',
      description:
        'Only integrations of exports of this campaign’s audience. Not available to project keys.',
    }),
  ),
  ...pageQuery,
})
export const One = Type.Object({ integration: Integration })
export const Page = Type.Object({ integrations: Type.Array(Integration), next_cursor: NextCursor })
