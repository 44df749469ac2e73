import type { FastifySchema } from 'fastify'
import { deliveredTypes } from '../../schemas/events/delivered.ts'
import { eventTypes } from '../../schemas/events/index.ts'
import {
  type DataType,
  type Field,
  fields,
  fieldsAt,
  isProfileField,
  selectableAt,
  type Tier,
} from '../../schemas/fields.ts'
import { formats } from '../http/negotiateFormat.ts'
import { countsParameters, groupings } from '../query/countsPlan.ts'
import { csvFormulas } from '../query/csvFormulas.ts'
import { filtersMax, operators, pathNamesMax, valuesMax } from '../query/filter.ts'
import { orders } from '../query/order.ts'
import { eventsParameters, limitDefault, limitMax, schemaParameters, sources } from '../query/plan.ts'

/**
 * What OpenAPI says about the events routes. Nothing is validated by these schemas (plan.ts does that), but the
 * parameters are listed by the same names that plan.ts accepts.
 */

export const parameters = {
  project_id: {
    type: 'string',
    format: 'uuid',
    description: 'All pixels of this project. The header X-Project-Id says the same; both must not differ.',
  },
  pixel_id: { type: 'string', format: 'uuid', description: 'One pixel.' },
  campaign_id: { type: 'string', description: 'One DSP campaign.' },
  source: {
    type: 'string',
    enum: sources,
    description:
      'Events of pixels, or DSP events (impression and click; what the DSP does not tell of them is null). Default: pixel, unless campaign_id, a filter or group_by speaks of campaigns.',
  },
  start_ms: {
    type: 'integer',
    format: 'int64',
    description: 'First millisecond of the window since 1970. Default: 24 hours before its end.',
  },
  end_ms: {
    type: 'integer',
    format: 'int64',
    description: 'First millisecond after the window since 1970. Default: now.',
  },
  start_time: {
    type: 'string',
    description:
      'The same as start_ms, as RFC 3339, YYYY-MM-DD (midnight UTC) or a Unix timestamp (in seconds; from 1e11 ' +
      'on in milliseconds). Not together with start_ms.',
  },
  end_time: {
    type: 'string',
    description: 'The same as end_ms, written like start_time. Not together with end_ms.',
  },
  filter: {
    type: 'string',
    description:
      `Comma-separated field:op:value; all of them must hold, ${filtersMax} at most. Operators: ` +
      `${operators.join(', ')}. A comma separates only where field:op: follows it, so values may hold commas and ` +
      'colons. Values have the type of the field; ne also keeps rows without a value; like takes % and _, which a ' +
      'backslash escapes; in takes up to ' +
      `${valuesMax} values with | between them, which they cannot hold. What a field with a fixed list of values never ` +
      'holds is 400. has_profile:eq:true, at resolution tiers, leaves out visitors of whom no more than the hem is known. ' +
      'event_data.element.className and other dotted paths reach into the payload, where eq, ' +
      `ne and like compare text and gt, gte, lt, lte numbers; all paths together have at most ${pathNamesMax} names.`,
    examples: ['event_type:eq:click,page_path:like:/checkout%'],
  },
  distinct: {
    type: 'string',
    description: 'Comma-separated fields. Of the events that share their values only the newest is returned.',
  },
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: limitMax,
    default: limitDefault.events,
    description: 'Most rows of the page.',
  },
  select: {
    type: 'string',
    description:
      'Comma-separated fields, in the order they are wanted. Default: every field of the tier but session_id and is_entry.',
  },
  csv_formulas: {
    type: 'string',
    enum: csvFormulas,
    default: csvFormulas[0],
    description:
      'escape: in CSV, a text that begins with =, +, -, @, a tab or a line end gets an apostrophe in front, so that no ' +
      'spreadsheet runs what a visitor or a page wrote. keep: texts as they are, for programs. Changes nothing of JSON.',
  },
  order: {
    type: 'string',
    enum: orders,
    default: orders[0],
    description:
      'desc: newest first, by ts_millis and then event_id; asc: oldest first. The rows are the same: of distinct ones ' +
      'the newest are returned in both. received: in the order of arrival, by received_at and then event_id; the window ' +
      'means received_at, ends at meta.complete_until where no end is given, and next_cursor is always there, so that ' +
      'who asks for it again and again gets each event once and misses none, however late it came. When ClickHouse has ' +
      'lost events in a crash, complete_until goes back until they are there again: who has read on meanwhile reads ' +
      'once more from the earliest complete_until, and leaves out the event_ids that are known.',
  },
  cursor: {
    type: 'string',
    description:
      'next_cursor of the page before, with the other parameters unchanged. Without a window and an order of its own ' +
      'the request reads those of the first page; another order is 400.',
  },
} as const

const countedFields = fields
  .filter(({ counts }) => counts === 'number')
  .map(({ name }) => name)
  .join(' and ')

/** What of these parameters counts take, which are not billed and so tell nothing that is sold. */
export const countsOnly = {
  filter: {
    ...parameters.filter,
    description: `${parameters.filter.description} Fields of events alone, resolved among them: who a visitor is, is not free.`,
  },
  distinct: {
    type: 'string',
    description:
      'Comma-separated fields whose distinct combinations are counted in each group, as `distinct`: fields of events, ' +
      `and of identity fields ${countedFields}.`,
  },
  group_by: {
    type: 'string',
    description:
      `Comma-separated: ${groupings.map(({ name }) => name).join(', ')}. Hours and days are UTC, url is the same as ` +
      'page_url. Without it there is one count.',
  },
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: limitMax,
    default: limitDefault.counts,
    description: 'Most groups in the answer: the earliest where they are by hour or day, else the largest.',
  },
} as const

export const described = <Name extends string>(
  names: readonly Name[],
  from: Readonly<Record<Name, object>>,
) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, from[name]])),
})

export const headers = {
  type: 'object',
  properties: { 'X-Project-Id': { type: 'string', format: 'uuid', description: 'The same as project_id.' } },
}

/** What tiers add to the names of operations and types. */
export const tierNames: Record<Tier, string> = {
  web_event: '',
  resolution_hem: 'WithHem',
  resolution_hem_pte: 'WithPte',
  resolution_full_profile: 'WithFullProfile',
}

const windowMeta = {
  start_ms: { type: 'integer', description: 'Start of the window, inclusive.' },
  end_ms: { type: 'integer', description: 'End of the window, exclusive.' },
  has_more: { type: 'boolean', description: 'True when the limit cut the answer.' },
  request_id: { type: 'string' },
}

/** GET /api/v3/events/{tier}. */
export const describeEvents = (tier: Tier): FastifySchema => ({
  tags: ['Events'],
  operationId: `listEvents${tierNames[tier]}`,
  summary: `List events (${tier})`,
  description:
    'Newest first, unless order says else. Accept: application/x-ndjson and text/csv give the same rows as ' +
    'lines; what meta says stands in the headers X-Footfall-Records, X-Footfall-Has-More, X-Footfall-Complete-Until and X-Footfall-Next-Cursor ' +
    'then.' +
    (fieldsAt(tier).some(isProfileField)
      ? ' Rows of identified visitors have every field of the tier, null where nobody knows it. The others have what ' +
        'happened and no fields of a person, unless select names them or the answer is CSV.'
      : ''),
  headers,
  querystring: described(eventsParameters, parameters),
  response: {
    200: {
      description: 'A page of events.',
      content: {
        [formats.json]: {
          schema: {
            type: 'object',
            required: ['rows', 'meta'],
            properties: {
              rows: { type: 'array', items: eventRowOf(selectableAt(tier)) },
              meta: {
                type: 'object',
                required: [
                  'tier',
                  'meter',
                  'records',
                  'charged',
                  'order',
                  'complete_until',
                  ...Object.keys(windowMeta),
                ],
                properties: {
                  tier: { type: 'string' },
                  meter: { type: 'string', description: 'What the rows are charged as.' },
                  records: { type: 'integer', description: 'Rows in this page.' },
                  charged: { type: 'integer', description: 'Records charged.' },
                  order: { type: 'string', enum: orders, description: 'The order of the rows.' },
                  complete_until: {
                    type: ['string', 'null'],
                    format: 'date-time',
                    description:
                      'Every event with a received_at before it can be read; later ones may still be on their way. ' +
                      'Null while no collector has told. Other formats have it as X-Footfall-Complete-Until.',
                  },
                  next_cursor: {
                    type: 'string',
                    description:
                      'Where the next page begins; absent on the last. Of order=received always there, unless its end is given.',
                  },
                  ...windowMeta,
                },
              },
            },
          },
        },
        [formats.ndjson]: { schema: eventRowOf(selectableAt(tier)) },
        [formats.csv]: {
          schema: { type: 'string', description: 'A line of field names, then a line per row.' },
        },
      },
    },
  },
})

/** GET /api/v3/events/{tier}/counts. */
export const describeCounts = (tier: Tier): FastifySchema => ({
  tags: ['Events'],
  operationId: 'countEvents',
  summary: `Count events (${tier}), not billed`,
  description:
    'The number of events that the tier route would return with the same scope, window and filter.',
  headers,
  querystring: described(countsParameters, { ...parameters, ...countsOnly }),
  response: {
    200: {
      description: 'Counts, in the order of time where they are by hour or day, then largest first.',
      content: {
        [formats.json]: {
          schema: {
            type: 'object',
            required: ['counts', 'total', 'meta'],
            properties: {
              counts: {
                type: 'array',
                items: {
                  type: 'object',
                  additionalProperties: true,
                  required: ['count'],
                  properties: {
                    count: { type: 'integer', description: 'Events in the group.' },
                    distinct: {
                      type: 'integer',
                      description: 'Rows the tier route would return of the group with the same distinct.',
                    },
                  },
                },
              },
              total: { type: 'integer', description: 'Events in all groups, also those the limit cut.' },
              meta: { type: 'object', required: Object.keys(windowMeta), properties: windowMeta },
            },
          },
        },
      },
    },
  },
})

/** What events there are, and what their event_data hold; in answers of schema routes. */
export const eventTypesSchema = {
  type: 'array',
  items: {
    type: 'object',
    required: ['source', 'event_type', 'event_data'],
    properties: {
      source: { type: 'string', enum: sources },
      event_type: {
        type: 'string',
        description:
          `Of pixels: ${eventTypes.join(', ')}. Of DSP campaigns: ${deliveredTypes.join(', ')}, whose event_data ` +
          'are url, campaign_id, spend and timestamp: a DSP’s click has no element.',
      },
      event_data: { type: 'object', additionalProperties: true, description: 'JSON Schema of event_data.' },
    },
  },
}

/** GET /api/v3/events/{tier}/schema; null describes /api/v3/events_schema, the fields of every tier. */
export const describeSchema = (tier: Tier | null): FastifySchema => ({
  tags: ['Events'],
  operationId: tier ? `getEvent${tierNames[tier]}Schema` : 'getEventsSchema',
  summary: tier
    ? `Get the fields of an event (${tier}), not billed`
    : 'Get the fields of an event at every tier, not billed',
  description: 'Both sources have the same fields; event_types are those of the source, or of both.',
  headers,
  querystring: described(schemaParameters, parameters),
  response: {
    200: {
      description: 'The fields, in the order in which rows have them.',
      content: {
        [formats.json]: {
          schema: {
            type: 'object',
            required: ['fields', 'event_types'],
            properties: {
              fields: {
                type: 'array',
                items: {
                  type: 'object',
                  required: ['name', 'data_type', 'nullable', 'tier', 'group', 'description'],
                  properties: {
                    name: { type: 'string' },
                    data_type: { type: 'string', description: 'Utf8, Int64, Float64, Boolean or Timestamp.' },
                    nullable: { type: 'boolean' },
                    tier: { type: 'string', description: 'The cheapest tier that returns the field.' },
                    group: { type: 'string' },
                    description: { type: 'string' },
                    only_when_named: {
                      type: 'boolean',
                      description: 'True of fields that rows have only where select names them.',
                    },
                  },
                },
              },
              event_types: eventTypesSchema,
            },
          },
        },
      },
    },
  },
})

const jsonTypes: Record<DataType, { type: string; format?: string }> = {
  Utf8: { type: 'string' },
  Int64: { type: 'integer', format: 'int64' },
  Float64: { type: 'number' },
  Boolean: { type: 'boolean' },
  Timestamp: { type: 'string', format: 'date-time' },
}

/** Members of a JSON object. */
export function rowOf(fields: readonly Field[]) {
  const properties = fields.map(({ name, dataType, nullable, description }) => {
    const { type, ...format } = jsonTypes[dataType]
    return [name, { type: nullable ? [type, 'null'] : type, ...format, description }]
  })
  return { type: 'object', properties: Object.fromEntries(properties) }
}

/** A row of events: what every event says is always there, what profiles say only of resolved events. */
export const eventRowOf = (fields: readonly Field[]) => ({
  ...rowOf(fields),
  description:
    'Without select every row has the members that are required there, and rows of resolved events all others, too. ' +
    'With select a row has what it names; session_id and is_entry are in no other.',
  anyOf: [
    {
      title: 'Without select',
      required: fields
        .filter((field) => !isProfileField(field) && !field.isOnlyNamed)
        .map(({ name }) => name),
    },
    { title: 'With select', minProperties: 1 },
  ],
})
