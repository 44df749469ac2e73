import { type Static, Type } from 'typebox'
import { Choice, Id, Nullable, strictObject, Timestamp } from '../../api/http/commonSchemas.ts'
import { CursorParameter, NextCursor } from '../../api/http/pagination.ts'
import { MeterName } from '../billingSchemas.ts'

/** How long the log is kept (095_api_requests.sql of ClickHouse). */
export const retentionDays = 30

const statusClasses = ['2xx', '3xx', '4xx', '5xx'] as const

const RequestsQuery = strictObject({
  project_id: Type.Optional(Id),
  caller_id: Type.Optional(
    Type.String({ format: 'uuid', description: 'Requests of this API key, or of this member.' }),
  ),
  caller_kind: Type.Optional(
    Choice(['key', 'member'], {
      description: 'Requests of keys, or of members in the dashboard or by token.',
    }),
  ),
  request_id: Type.Optional(Id),
  route: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Part of a route: `/audiences`.' }),
  ),
  status: Type.Optional(
    Type.String({
      pattern: '^([2-5]xx|[2-5][0-9][0-9])$',
      description: `A status, or one of ${statusClasses.join(', ')}.`,
    }),
  ),
  charged: Type.Optional(
    Type.Boolean({
      description:
        'true: only what was charged, jobs included, as far back as the ledger goes; `caller_kind`, `route` and `status` are not filtered by then.',
    }),
  ),
  meter: Type.Optional(
    Type.Unsafe<Static<typeof MeterName>>({
      ...MeterName,
      description: 'Only what was charged on this meter.',
    }),
  ),
  start_date: Type.Optional(Type.String({ format: 'date', description: 'First day, UTC.' })),
  end_date: Type.Optional(
    Type.String({ format: 'date', description: 'Last day, UTC, inclusive. Default: today.' }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
  cursor: Type.Optional(CursorParameter),
})
export type RequestsQuery = Static<typeof RequestsQuery>

const ApiRequest = Type.Object(
  {
    request_id: Id,
    at: Timestamp,
    project_id: Nullable(Id),
    caller: Type.Object({
      kind: Choice(['key', 'member', 'share', 'job']),
      id: Id,
      name: Nullable(Type.String(), {
        description: 'What it is called now; null when it is gone.',
      }),
    }),
    mode: Choice(['live', 'test']),
    method: Nullable(Type.String(), {
      description:
        'Null, like route to latency_ms, where the log does not have the request: a job, or longer ago.',
    }),
    route: Nullable(Type.String()),
    target: Nullable(Type.String(), {
      description:
        'Path and query. Of values that may tell of a person, or are secret, there is `…` instead.',
    }),
    status: Nullable(Type.Integer()),
    error: Nullable(Type.String(), { description: 'Of answers other than 2xx.' }),
    latency_ms: Nullable(Type.Integer({ description: 'Until the answer had gone.' })),
    meter: Nullable(MeterName),
    records: Type.Integer({ description: 'Records charged, less those refunded.' }),
    amount_micros: Type.Integer({ description: 'What they cost, in millionths of the currency.' }),
  },
  { title: 'ApiRequest' },
)
export type ApiRequest = Static<typeof ApiRequest>

export const describeRequests = {
  tags: ['Billing'],
  operationId: 'listRequests',
  summary: 'List the requests of the API, with their charges',
  description:
    `Newest first: the requests of the last ${retentionDays} days by keys, tokens, members and share links, and what each was charged. ` +
    'Neither secrets nor values that may tell of people are kept. A request is listed a second after its answer. A key ' +
    'of a project, and a plain member, get what is about their projects. Never billed.',
  querystring: RequestsQuery,
  response: {
    200: Type.Object({
      requests: Type.Array(ApiRequest),
      next_cursor: NextCursor,
    }),
  },
} as const
