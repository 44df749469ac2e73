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
    '`ip_address` and `company_domain` are for DSPs (`the_trade_desk`), `crm` is for CRMs (`hubspot`, `salesforce`), ' +
    '`hem` for all others; `csv`, `ndjson` and `parquet` for `s3`, `ndjson` for `webhook`.',
})

const Mapping = Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 100 }), {
  maxProperties: 200,
  description:
    'Field of the destination → field of ours (`GET /api/v1/audiences/schema` has them). Left out: the usual fields of a ' +
    'CRM; all fields in files.',
})

const Schedule = Choice(['manual', 'hourly', 'daily'], {
  default: 'manual',
  description: 'When it runs: when it is asked for, or on a schedule besides.',
})

const source = {
  audience_id: Type.String({ format: 'uuid', description: 'The audience that is sent.' }),
  list_id: Type.String({
    format: 'uuid',
    description:
      'The list that is sent, as it is when the run begins: its people, known or not, those whom its cookies belong to, ' +
      'or its companies.',
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
    mapping: Nullable(Mapping, { description: 'Null: the usual one.' }),
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
    description: 'Of the integration: one of another type is answered 400.',
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
    'Queued; sending; waiting until `resumes_at` (a limit of the destination, or it does not answer); every record has ' +
    'been sent or refused; or stopped for the reason in `error`. In the last two every record has an outcome.',
})

const Count = (description: string) => Type.Integer({ minimum: 0, description })

/** Spec: Export run. */
export const Run = Type.Object(
  {
    run_id: Id,
    export_id: Id,
    status: RunStatus,
    records_expected: Nullable(
      Count(
        'Records that are to be sent; null until a list has been read, and, with the others 0, while the `count` of such an ' +
          'audience is not told.',
      ),
    ),
    records_total: Count(
      'Records with an outcome: the sum of the next three, whenever it is read.',
    ),
    records_exported: Count('The destination took them.'),
    records_failed: Count('`GET …/failures` tells each with its reason.'),
    records_duplicated: Count(
      'Skipped: the destination cannot tell them from another record of the run.',
    ),
    records_charged: Count('Records that were charged for it.'),
    build_id: Nullable(
      Type.String({ format: 'uuid', description: 'The build of the audience that is sent.' }),
    ),
    retry_of: Nullable(
      Type.String({ format: 'uuid', description: 'The run whose failed records are sent again.' }),
    ),
    error: Nullable(Type.String({ description: 'Why it was stopped, or why it waits.' })),
    resumes_at: Nullable(Type.String({ format: 'date-time', description: 'When it goes on.' })),
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
          'The hem, or the domain of the company; null of one that was never sent, so never charged.',
      }),
    ),
    outcome: Choice(['failed', 'duplicated']),
    reason: Type.String(),
    index: Type.Null({ description: 'Records of a run have no place in a request.' }),
    path: Type.Literal('', { description: 'The whole record failed.' }),
    code: Choice([...failureClasses, 'failed', 'duplicated'], {
      description: '`class` where there is one, else `outcome`.',
    }),
    message: Type.String({ description: 'As `reason`.' }),
    class: Nullable(
      Choice(failureClasses, {
        description:
          'Of failed ones: it may succeed when it is sent again; once what the reason names is mended; or never.',
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
      description: 'Those of this audience. Not with a key of one project.',
    }),
  ),
  campaign_id: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'Those of this campaign’s audience. Not with a key of one project.',
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
