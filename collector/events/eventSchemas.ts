import { type TSchema, Type } from 'typebox'
import { deliveredTypes } from '../../schemas/events/delivered.ts'
import { eventTypes } from '../../schemas/events/index.ts'
import { fieldsAt, isProfileField, type Tier } from '../../schemas/fields.ts'
import { Bytes, Choice, Nullable, strictObject, Timestamp } from '../api/http/commonSchemas.ts'
import { formats } from '../api/http/negotiateFormat.ts'
import { FieldDescription } from '../api/http/rowSchemas.ts'
import { meters } from '../billing/meters.ts'
import { CountsQuery } from './query/counts/countsPlan.ts'
import { orders } from './query/order.ts'
import { EventsQuery } from './query/page/parseEventsRequest.ts'
import { scopeQuery } from './query/scopeQuery.ts'
import { SourceName, sources } from './query/source.ts'
import { eventRows, tierNames } from './rowSchemas.ts'

const SchemaQuery = strictObject({ ...scopeQuery, source: Type.Optional(SourceName) })

const tags = ['Events']

const window = {
  start_ms: Type.Integer({ description: 'Start of the window, inclusive.' }),
  end_ms: Type.Integer({ description: 'End of the window, exclusive.' }),
}
const answered = {
  has_more: Type.Boolean({ description: 'True if the limit left out rows.' }),
  request_id: Type.String(),
}

const Meta = Type.Object(
  {
    tier: Type.String(),
    meter: Choice(meters, { description: 'Record type that is charged.' }),
    records: Type.Integer({ description: 'Number of rows in this page.' }),
    charged: Type.Integer({ description: 'Records charged.' }),
    ...window,
    order: Choice(orders, { description: 'Order of the rows.' }),
    complete_until: Nullable(Timestamp, {
      description:
        'All events with an earlier received_at are available. Later ones may still be on their way. ' +
        'Null if no collector has reported yet. Other formats have it in the header X-Footfall-Complete-Until.',
    }),
    next_cursor: Type.Optional(
      Type.String({
        description:
          'Cursor of the next page. Absent on the last page. With order=received always present, unless the request has an end.',
      }),
    ),
    ...answered,
  },
  { title: 'Meta' },
)

const tableTypes =
  'The types are those of the schema routes: Utf8, Int64, Float64 (double), Boolean, Timestamp (milliseconds, UTC).'

export const pageIn = (description: string, page: TSchema, row: TSchema) => ({
  description,
  content: {
    [formats.json]: { schema: Bytes(page) },
    [formats.ndjson]: { schema: Bytes(row) },
    [formats.csv]: {
      schema: Bytes(
        Type.String({
          description: 'A header line with the field names, then one line for each row.',
        }),
      ),
    },
    [formats.arrow]: {
      schema: Bytes(
        Type.String({
          format: 'binary',
          description: `An Arrow IPC stream with one column for each field. ${tableTypes}`,
        }),
      ),
    },
    [formats.parquet]: {
      schema: Bytes(
        Type.String({
          format: 'binary',
          description: `A Parquet file, compressed with Snappy, with one column for each field. ${tableTypes}`,
        }),
      ),
    },
  },
})

export const describeEvents = (tier: Tier) => ({
  tags,
  operationId: `listEvents${tierNames[tier]}`,
  summary: `List events (${tier})`,
  description:
    'Returns events, newest first unless `order` is set. Charged on the meter of the tier. ' +
    'Supported response types: application/json, application/x-ndjson, text/csv, ' +
    'application/vnd.apache.arrow.stream and application/vnd.apache.parquet. Types other than JSON report meta ' +
    'in the headers X-Footfall-Records, X-Footfall-Has-More, X-Footfall-Complete-Until and X-Footfall-Next-Cursor. ' +
    'A page of Arrow or Parquet may have fewer rows than limit although more follow.' +
    (fieldsAt(tier).some(isProfileField)
      ? ' Rows of identified visitors have every field of the tier, null if unknown. Rows of other visitors have ' +
        'event fields only, unless select names profile fields or the response is CSV, Arrow or Parquet.'
      : ''),
  querystring: EventsQuery,
  response: {
    200: pageIn(
      'A page of events.',
      Type.Object({ rows: Type.Array(eventRows[tier]), meta: Meta }),
      eventRows[tier],
    ),
  },
})

/** The count of a group; further members are the values of `group_by`. */
export const EventCount = Type.Object(
  {
    count: Type.Integer({ description: 'Number of events in the group.' }),
    distinct: Type.Optional(
      Type.Integer({
        description:
          'Number of distinct combinations of the fields in distinct: the rows that pages would have.',
      }),
    ),
  },
  {
    title: 'EventCount',
    description: 'A group, with one member for each name in group_by.',
    additionalProperties: true,
  },
)

const CountsMeta = Type.Object({ ...window, ...answered }, { title: 'CountsMeta' })

export const describeCounts = (tier: Tier) => ({
  tags,
  operationId: 'countEvents',
  summary: `Count events (${tier}), not billed`,
  description:
    'Returns the number of events that the tier route would return with the same scope, window and filter. Not billed.',
  querystring: CountsQuery,
  response: {
    200: Type.Object(
      {
        counts: Type.Array(EventCount),
        total: Type.Integer({
          description: 'Number of events in all groups, including groups beyond the limit.',
        }),
        meta: CountsMeta,
      },
      {
        description:
          'The counts. By hour or day they are sorted by time, otherwise by count, largest first.',
      },
    ),
  },
})

/** A type of events and the schema of its event_data; in responses of schema routes. */
export const EventType = Type.Object(
  {
    source: Choice(sources),
    event_type: Type.String({
      description:
        `Events of pixels: ${eventTypes.join(', ')}. Events of DSP campaigns: ${deliveredTypes.join(', ')}, with ` +
        'url, campaign_id, spend and timestamp in event_data. A click from a DSP has no element.',
    }),
    event_data: Type.Unsafe<TSchema>(
      Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schema of event_data.' }),
    ),
  },
  { title: 'EventType' },
)

/** GET /api/v3/events/{tier}/schema; null describes /api/v3/events_schema, the fields of every tier. */
export const describeSchema = (tier: Tier | null) => ({
  tags,
  operationId: tier ? `getEvent${tierNames[tier]}Schema` : 'getEventsSchema',
  summary: tier
    ? `Get the fields of an event (${tier}), not billed`
    : 'Get the fields of an event at every tier, not billed',
  description:
    'Both sources have the same fields. event_types are those of the source, or of both without one.',
  querystring: SchemaQuery,
  response: {
    200: Type.Object(
      { fields: Type.Array(FieldDescription), event_types: Type.Array(EventType) },
      { description: 'The fields, in the order of the rows.' },
    ),
  },
})
