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
import {
  failureClasses,
  integrationTypes,
  outputFormats,
} from '../integrations/destinations/destination.ts'
import { IntegrationType } from '../integrations/integrationSchemas.ts'

export const tags = ['Exports']

const Format = Choice(outputFormats, {
  description:
    '`ip_address` and `company_domain` are for DSPs (`the_trade_desk`), `crm` is for CRMs (`hubspot`, `salesforce`), and ' +
    '`hem` is for all others. `csv`, `ndjson` and `parquet` are for `s3`, and `ndjson` is for `webhook`.',
})

const Mapping = Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 100 }), {
  maxProperties: 200,
  description:
    'Field of the destination → Footfall field (`GET /api/v1/audiences/schema` lists them). Default: the standard fields of a CRM; all fields in files.',
})

const Schedule = Choice(['manual', 'hourly', 'daily'], {
  default: 'manual',
  description: 'When it runs: only on request, or also on a schedule.',
})

const source = {
  audience_id: Type.String({ format: 'uuid', description: 'The audience to send.' }),
  list_id: Type.String({
    format: 'uuid',
    description:
      'The list to send, with its members at the start of the run. For lists of cookies, the people that the cookies belong to.',
  }),
}

export const Export = Type.Object(
  {
    id: Id,
    project_id: Id,
    name: Type.String(),
    audience_id: Nullable(source.audience_id),
    list_id: Nullable(source.list_id),
    integration_id: Id,
    integration_type: IntegrationType,
    output_format: Format,
    mapping: Nullable(Mapping, { description: 'Null: the default format.' }),
    schedule: Schedule,
    version: Version,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Export' },
)

const project = { project_id: Type.Optional(Id) }
const integrationType = Type.Optional(
  Choice(integrationTypes, {
    description: 'Must be the type of the integration.',
  }),
)

export const NewExport = strictObject({
  ...project,
  name: Name,
  audience_id: Type.Optional(source.audience_id),
  list_id: Type.Optional(source.list_id),
  integration_id: Id,
  integration_type: integrationType,
  output_format: Format,
  mapping: Type.Optional(Nullable(Mapping)),
  schedule: Type.Optional(Schedule),
})

export const ExportChange = strictObject({
  name: Type.Optional(Name),
  integration_id: Type.Optional(Id),
  integration_type: integrationType,
  output_format: Type.Optional(Format),
  mapping: Type.Optional(Nullable(Mapping)),
  schedule: Type.Optional(Schedule),
  version: SeenVersion,
})

const RunStatus = Choice(['pending', 'running', 'parked', 'completed', 'failed'], {
  description:
    '`queued`, `sending`, or waiting until `resumes_at` because the destination limits requests or does not answer. When the run has ended, all records were sent or refused, or it stopped for the reason in `error`. Each record then has an outcome.',
})

const Count = (description: string) => Type.Integer({ minimum: 0, description })
const Counter = (description: string) => Type.Optional(Count(description))

/** Spec: Export run. */
export const Run = Type.Object(
  {
    run_id: Id,
    export_id: Id,
    status: RunStatus,
    records_total: Counter(
      'Records with an outcome so far: always the sum of the next three. The four counters are omitted if the free answers of the day are used up, until midnight UTC or the first charged record.',
    ),
    records_exported: Counter('Records that the destination accepted.'),
    records_failed: Counter('Failed records; `GET …/failures` lists them with reasons.'),
    records_duplicated: Counter(
      'Skipped records: the destination cannot distinguish them from another record of the run.',
    ),
    records_charged: Count('Records charged for the run.'),
    build_id: Nullable(Type.String({ format: 'uuid', description: 'The build of the audience.' })),
    retry_of: Nullable(
      Type.String({
        format: 'uuid',
        description: 'The run whose failed records this run retries.',
      }),
    ),
    error: Nullable(Type.String({ description: 'Why it stopped or waits.' })),
    resumes_at: Nullable(Type.String({ format: 'date-time', description: 'When it resumes.' })),
    requested_at: Timestamp,
    started_at: Nullable(Timestamp),
    ended_at: Nullable(Timestamp),
  },
  { title: 'ExportRun' },
)

const Failure = Type.Object(
  {
    record: Nullable(
      Type.String({
        description:
          'The hem, or the domain of the company. Null for a record that was never sent and so never charged.',
      }),
    ),
    outcome: Choice(['failed', 'duplicated']),
    reason: Type.String(),
    index: Type.Null({
      description: 'Always null: records of a run have no position in a request.',
    }),
    path: Type.Literal('', { description: 'The record failed as a whole.' }),
    code: Choice([...failureClasses, 'failed', 'duplicated'], {
      description: 'Equals `class` if the record has one, otherwise `outcome`.',
    }),
    message: Type.String({ description: 'As `reason`.' }),
    class: Nullable(
      Choice(failureClasses, {
        description:
          'For failed records: whether a retry can succeed, now, after the cause is fixed, or never.',
      }),
    ),
  },
  { title: 'ExportFailure' },
)

export const ById = strictObject({ export_id: Type.String() })
export const RunById = strictObject({ export_id: Type.String(), run_id: Type.String() })
export const ProjectQuery = strictObject(project)
export const ListQuery = strictObject({
  ...project,
  audience_id: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'Only exports of this audience. Not available to project keys.',
    }),
  ),
  campaign_id: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'Only exports of this campaign’s audience. Not available to project keys.',
    }),
  ),
  ...pageQuery,
})
export const RunsQuery = strictObject({ ...project, ...pageQuery })
export const FailuresQuery = strictObject({
  ...project,
  outcome: Type.Optional(Choice(['failed', 'duplicated'], { default: 'failed' })),
  ...pageQuery,
})
export const One = Type.Object({ export: Export })
export const Page = Type.Object({ exports: Type.Array(Export), next_cursor: NextCursor })
export const OneRun = Type.Object({ run: Run })
export const RunPage = Type.Object({ runs: Type.Array(Run), next_cursor: NextCursor })
export const FailurePage = Type.Object({ failures: Type.Array(Failure), next_cursor: NextCursor })
