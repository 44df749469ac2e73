import type { FastifySchema } from 'fastify'
import { selectableAt } from '../../../schemas/fields.ts'
import { meters } from '../../billing/meters.ts'
import { formats } from '../../http/negotiateFormat.ts'
import { everyTier } from '../../query/plan.ts'
import { dayMs } from '../../query/window.ts'
import { countsOnly, described, eventRowOf, eventTypesSchema, headers, parameters } from '../schemas.ts'
import { type LegacyVersion, legacyCountsParameters, legacyEventsParameters, legacyLimits } from './legacy.ts'
import { indexParameters, intervals, v1, v1SchemaParameters } from './v1.ts'

/** What OpenAPI says about the events routes of versions 1 and 2. As in description.ts, nothing is validated by it. */

const scopeText =
  'One of pixel_id, project_id and organization_id says whose events; of several, pixel_id wins over project_id, ' +
  'which wins over organization_id. A campaign_id alone serves too. '

const windowText = 'The window is given as start_ms and end_ms, or as start_time and end_time. '

const own = {
  ...parameters,
  organization_id: { type: 'string', format: 'uuid', description: 'All projects of the key’s organization.' },
  start_ms: { ...parameters.start_ms, description: 'First millisecond of the window since 1970.' },
  end_ms: { ...parameters.end_ms, description: 'First millisecond after the window since 1970.' },
  limit: { type: 'integer', minimum: 1, maximum: legacyLimits.max, default: legacyLimits.default },
  offset: {
    type: 'integer',
    minimum: 0,
    default: 0,
    description: 'How many of the newest events to pass over.',
  },
  select: { ...parameters.select, description: 'Comma-separated fields. Default: every field.' },
  interval: {
    type: 'string',
    enum: Object.keys(intervals),
    default: 'hour',
    description: Object.entries(intervals)
      .map(([interval, windowMs]) => `${interval} takes a window of at most ${windowMs / dayMs} days`)
      .join(', '),
  },
} as const

/** In version 2 the end belongs to the window. */
const inclusive = {
  ...own,
  end_ms: { ...own.end_ms, description: 'Last millisecond of the window since 1970.' },
  end_time: {
    ...own.end_time,
    description:
      'Last instant of the window, written like start_time; of a date the whole day belongs to it.',
  },
}

const answer = (description: string, properties: Record<string, object>) => ({
  200: {
    description,
    content: {
      [formats.json]: { schema: { type: 'object', required: Object.keys(properties), properties } },
    },
  },
})

const windowMeta = {
  start_ms: { type: 'integer', description: 'Start of the window, inclusive.' },
  end_ms: { type: 'integer', description: 'End of the window, as it was asked for.' },
  request_id: { type: 'string' },
}

/** GET /api/v1/events and GET /api/v2/events. */
export const describeLegacyEvents = (version: LegacyVersion): FastifySchema => {
  const isV1 = version === v1
  return {
    tags: ['Events'],
    operationId: isV1 ? 'listEventsV1' : 'listEventsV2',
    summary: `List events (version ${isV1 ? 1 : 2})`,
    description:
      `Newest first. ${scopeText}${windowText}` +
      (version.windowMsMax === null
        ? 'Both bounds are inclusive. source=svcdsp with campaign_id, or with project_id for all its campaigns, reads ' +
          'DSP events.'
        : `It is at most ${version.windowMsMax / 3_600_000} hours long; its end is exclusive.`) +
      ' Charged on one meter, that of the highest tier among the fields of select, filter and distinct; without ' +
      'select those count, too, that have a value in a row. resolved is a field of events.',
    headers,
    querystring: described(legacyEventsParameters, version.includesEnd ? inclusive : own),
    response: answer('A page of events.', {
      rows: { type: 'array', items: eventRowOf(selectableAt(everyTier)) },
      meta: {
        type: 'object',
        required: ['meter', 'records', 'charged', ...Object.keys(windowMeta), 'offset', 'limit', 'has_more'],
        properties: {
          meter: { type: 'string', enum: meters },
          records: { type: 'integer', description: 'Rows in this page.' },
          charged: { type: 'integer', description: 'Records charged.' },
          ...windowMeta,
          offset: { type: 'integer' },
          limit: { type: 'integer' },
          has_more: { type: 'boolean', description: 'True when there are rows after these.' },
        },
      },
    }),
  }
}

/** GET /api/v1/events/scan_estimate. */
export const describeScanEstimate = (): FastifySchema => ({
  tags: ['Events'],
  operationId: 'estimateEventScan',
  summary: 'Estimate what a page of events reads, not billed',
  description:
    'Takes the parameters of GET /api/v1/events, with a window of any length, and reads no events: this is what the ' +
    'index cannot rule out. A page that fills early needs less.',
  headers,
  querystring: described(legacyEventsParameters, { ...own, filter: countsOnly.filter }),
  response: answer('The estimate.', {
    estimate: {
      type: 'object',
      required: ['rows', 'bytes', 'parts', 'marks'],
      properties: {
        rows: { type: 'integer', description: 'Events, looked at to find those asked for.' },
        bytes: {
          type: 'integer',
          description: 'Uncompressed, of the columns needed, by their average size.',
        },
        parts: { type: 'integer', description: 'Parts of tables.' },
        marks: { type: 'integer', description: 'Granules of 8,192 events.' },
      },
    },
    meta: { type: 'object', required: Object.keys(windowMeta), properties: windowMeta },
  }),
})

const countsMeta = {
  type: 'object',
  required: [...Object.keys(windowMeta), 'has_more'],
  properties: { ...windowMeta, has_more: { type: 'boolean' } },
}

const total = { type: 'integer', description: 'Events in all groups.' }

/** GET /api/v1/event_counts. */
export const describeV1Counts = (): FastifySchema => ({
  tags: ['Events'],
  operationId: 'countEventsV1',
  summary: 'Count events (version 1), not billed',
  description: `${scopeText}${windowText}Its end is exclusive, and it may be of any length.`,
  headers,
  querystring: described(legacyCountsParameters, { ...own, ...countsOnly }),
  response: answer(
    'Counts, in the order of time where they are by hour or day, then largest first, of at most 10,000 groups; has_more says whether there are more.',
    {
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
              description: 'Distinct combinations of the fields named in distinct.',
            },
          },
        },
      },
      total,
      meta: countsMeta,
    },
  ),
})

/** GET /api/v1/event_counts_index. */
export const describeV1Index = (): FastifySchema => ({
  tags: ['Events'],
  operationId: 'getEventCountsIndex',
  summary: 'Get the index of event counts by hour or day, not billed',
  description: `${scopeText}${windowText}Intervals without events are left out.`,
  headers,
  querystring: described(indexParameters, { ...own, filter: countsOnly.filter }),
  response: answer('The index, earliest first.', {
    interval: { type: 'string', enum: Object.keys(intervals) },
    index: {
      type: 'array',
      items: {
        type: 'object',
        required: ['start', 'count', 'event_types'],
        properties: {
          start: { type: 'string', description: 'The hour as RFC 3339, or the day as YYYY-MM-DD, in UTC.' },
          count: { type: 'integer' },
          event_types: { type: 'object', additionalProperties: { type: 'integer' } },
        },
      },
    },
    total,
    meta: countsMeta,
  }),
})

/** GET /api/v1/events_schema. */
export const describeV1Schema = (): FastifySchema => ({
  tags: ['Events'],
  operationId: 'getEventsSchemaV1',
  summary: 'Get the fields of an event (version 1), not billed',
  headers,
  querystring: described(v1SchemaParameters, own),
  response: answer('The fields, in the order in which rows have them.', {
    fields: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'data_type', 'type', 'nullable', 'tier', 'group', 'description'],
        properties: {
          name: { type: 'string' },
          data_type: { type: 'string', description: 'Utf8, Int64, Float64, Boolean or Timestamp.' },
          type: { type: 'string', description: 'The same as data_type, under its name in version 1.' },
          nullable: { type: 'boolean' },
          tier: { type: 'string', description: 'What the field is charged as; web_event is meter events.' },
          group: { type: 'string' },
          description: { type: 'string' },
        },
      },
    },
    event_types: eventTypesSchema,
  }),
})
