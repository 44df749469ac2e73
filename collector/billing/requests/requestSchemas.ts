import { type Static, Type } from 'typebox'
import { Choice, Id, Nullable, strictObject, Timestamp } from '../../api/http/commonSchemas.ts'
import { CursorParameter, NextCursor } from '../../api/http/pagination.ts'
import { MeterName } from '../billingSchemas.ts'

/** Retention of the log (001_collection.sql of ClickHouse). */
export const retentionDays = 30

const statusClasses = ['2xx', '3xx', '4xx', '5xx'] as const

const RequestsQuery = strictObject({
  project_id: Type.Optional(Id),
  caller_id: Type.Optional(
    Type.String({ format: 'uuid', description: 'Only requests of this API key or this member.' }),
  ),
  caller_kind: Type.Optional(
    Choice(['key', 'member'], {
      description: 'Only requests of API keys, or of members (dashboard or token).',
    }),
  ),
  request_id: Type.Optional(Id),
  route: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Only requests whose route contains this text, such as `/audiences`.',
    }),
  ),
  status: Type.Optional(
    Type.String({
      pattern: '^([2-5]xx|[2-5][0-9][0-9])$',
      description: `Only requests with this status: a number, or one of ${statusClasses.join(', ')}.`,
    }),
  ),
  charged: Type.Optional(
    Type.Boolean({
      description:
        'With `true`, only charged requests and jobs, as far back as the ledger reaches. Ignores `caller_kind`, `route` and `status`.',
    }),
  ),
  meter: Type.Optional(
    Type.Unsafe<Static<typeof MeterName>>({
      ...MeterName,
      description: 'Only requests charged on this meter.',
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
        description: 'Current name. Null if it was deleted.',
      }),
    }),
    mode: Choice(['live', 'test']),
    method: Nullable(Type.String(), {
      description:
        'Null, like the fields from `route` to `latency_ms`, for jobs and for requests older than the log.',
    }),
    route: Nullable(Type.String()),
    target: Nullable(Type.String(), {
      description: 'Path and query. `…` replaces secrets and values that may describe a person.',
    }),
    status: Nullable(Type.Integer()),
    error: Nullable(Type.String(), { description: 'Error code of responses other than 2xx.' }),
    latency_ms: Nullable(Type.Integer({ description: 'Time until the response was sent.' })),
    meter: Nullable(MeterName),
    records: Type.Integer({ description: 'Records charged, minus refunds.' }),
    amount_micros: Type.Integer({ description: 'Cost in millionths of the currency.' }),
  },
  { title: 'ApiRequest' },
)
export type ApiRequest = Static<typeof ApiRequest>

export const describeRequests = {
  tags: ['Billing'],
  operationId: 'listRequests',
  summary: 'List API requests with their charges',
  description:
    `Returns the requests of the last ${retentionDays} days by keys, tokens, members and share links, with their charges. ` +
    'Sorted by time, newest first. A request appears one second after its response. A project key and a member ' +
    'without the admin role get the requests for their projects only. Secrets and values that may describe ' +
    'people are not stored. Never billed.',
  querystring: RequestsQuery,
  response: {
    200: Type.Object({
      requests: Type.Array(ApiRequest),
      next_cursor: NextCursor,
    }),
  },
} as const
