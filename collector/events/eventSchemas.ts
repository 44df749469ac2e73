import { type TSchema, Type } from 'typebox'
import { deliveredTypes } from '../../schemas/events/delivered.ts'
import { eventTypes } from '../../schemas/events/index.ts'
import { fieldsAt, isProfileField, type Tier } from '../../schemas/fields.ts'
import { Bytes, Choice, Nullable, strictObject, Timestamp } from '../api/http/commonSchemas.ts'
import { formats } from '../api/http/negotiateFormat.ts'
import { FieldDescription } from '../api/http/rowSchemas.ts'
import { meters } from '../billing/meters.ts'
import { CountsQuery } from './query/countsPlan.ts'
import { orders } from './query/order.ts'
import { EventsQuery } from './query/parseEventsRequest.ts'
import { scopeQuery } from './query/scopeQuery.ts'
import { SourceName, sources } from './query/source.ts'
import { eventRows, tierNames } from './rowSchemas.ts'

/** The parameters of the schema routes. */
const SchemaQuery = strictObject({ ...scopeQuery, source: Type.Optional(SourceName) })

const tags = ['Events']

const window = {
  start_ms: Type.Integer({ description: 'Start of the window, inclusive.' }),
  end_ms: Type.Integer({ description: 'End of the window, exclusive.' }),
}
const answered = {
  has_more: Type.Boolean({ description: 'True when the limit cut the answer.' }),
  request_id: Type.String(),
}

const Meta = Type.Object(
  {
    tier: Type.String(),
    meter: Choice(meters, { description: 'What the rows are charged as.' }),
    records: Type.Integer({ description: 'Rows in this page.' }),
    charged: Type.Integer({ description: 'Records charged.' }),
    ...window,
    order: Choice(orders, { description: 'The order of the rows.' }),
    complete_until: Nullable(Timestamp, {
      description:
        'Every event with a received_at before it can be read; later ones may still be on their way. ' +
        'Null while no collector has told. Other formats have it as X-Footfall-Complete-Until.',
    }),
    next_cursor: Type.Optional(
      Type.String({
        description:
          'Where the next page begins; absent on the last. Of order=received always there, unless its end is given.',
      }),
    ),
    ...answered,
  },
  { title: 'Meta' },
)

const tableTypes =
  'The types are those that schema routes tell: Utf8, Int64, Float64 (double), Boolean, Timestamp (milliseconds, UTC).'

/** What a page of rows is in each format. */
export const pageIn = (description: string, page: TSchema, row: TSchema) => ({
  description,
  content: {
    [formats.json]: { schema: Bytes(page) },
    [formats.ndjson]: { schema: Bytes(row) },
    [formats.csv]: {
      schema: Bytes(Type.String({ description: 'A line of field names, then a line per row.' })),
    },
    [formats.arrow]: {
      schema: Bytes(
        Type.String({
          format: 'binary',
          description: `An Arrow IPC stream: a column for each field. ${tableTypes}`,
        }),
      ),
    },
    [formats.parquet]: {
      schema: Bytes(
        Type.String({
          format: 'binary',
          description: `A Parquet file, packed with Snappy: a column for each field. ${tableTypes}`,
        }),
      ),
    },
  },
})

/** GET /api/v3/events/{tier}. */
export const describeEvents = (tier: Tier) => ({
  tags,
  operationId: `listEvents${tierNames[tier]}`,
  summary: `List events (${tier})`,
  description:
    'Newest first, unless order says else. Accept: application/x-ndjson and text/csv give the same rows as ' +
    'lines, application/vnd.apache.arrow.stream and application/vnd.apache.parquet as a table with types; what meta ' +
    'says stands in the headers X-Footfall-Records, X-Footfall-Has-More, X-Footfall-Complete-Until and X-Footfall-Next-Cursor ' +
    'then. A table may have fewer rows than limit and still more to come.' +
    (fieldsAt(tier).some(isProfileField)
      ? ' Rows of identified visitors have every field of the tier, null where nobody knows it. The others have what ' +
        'happened and no fields of a person, unless select names them or the answer is CSV or a table.'
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

/** What counts say of each group; further members are what it is grouped by. */
export const EventCount = Type.Object(
  {
    count: Type.Integer({ description: 'Events in the group.' }),
    distinct: Type.Optional(
      Type.Integer({
        description:
          'Distinct combinations of the fields named in distinct: rows that a page would have.',
      }),
    ),
  },
  {
    title: 'EventCount',
    description: 'A group, with a member for each thing that group_by names.',
    additionalProperties: true,
  },
)

/** What all answers with counts have. */
const CountsMeta = Type.Object({ ...window, ...answered }, { title: 'CountsMeta' })

/** GET /api/v3/events/{tier}/counts. */
export const describeCounts = (tier: Tier) => ({
  tags,
  operationId: 'countEvents',
  summary: `Count events (${tier}), not billed`,
  description:
    'The number of events that the tier route would return with the same scope, window and filter.',
  querystring: CountsQuery,
  response: {
    200: Type.Object(
      {
        counts: Type.Array(EventCount),
        total: Type.Integer({ description: 'Events in all groups, also those the limit cut.' }),
        meta: CountsMeta,
      },
      {
        description:
          'Counts, in the order of time where they are by hour or day, then largest first.',
      },
    ),
  },
})

/** A type of events, and what their event_data hold; in answers of schema routes. */
export const EventType = Type.Object(
  {
    source: Choice(sources),
    event_type: Type.String({
      description:
        `Of pixels: ${eventTypes.join(', ')}. Of DSP campaigns: ${deliveredTypes.join(', ')}, whose event_data ` +
        'are url, campaign_id, spend and timestamp: a DSP’s click has no element.',
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
    'Both sources have the same fields; event_types are those of the source, or of both.',
  querystring: SchemaQuery,
  response: {
    200: Type.Object(
      { fields: Type.Array(FieldDescription), event_types: Type.Array(EventType) },
      { description: 'The fields, in the order in which rows have them.' },
    ),
  },
})
