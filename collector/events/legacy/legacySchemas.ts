import { type TSchema, Type } from 'typebox'
import { Bytes, Choice, strictObject } from '../../api/http/commonSchemas.ts'
import { FieldDescription } from '../../api/http/rowSchemas.ts'
import { meters } from '../../billing/meters.ts'
import { EventCount, EventType } from '../eventSchemas.ts'
import { everyTier } from '../query/page/parseEventsRequest.ts'
import { SourceName } from '../query/source.ts'
import { eventRows } from '../rowSchemas.ts'
import {
  InclusiveEventsQuery,
  LegacyEventsQuery,
  type LegacyVersion,
  legacySelection,
} from './legacy.ts'
import { Interval, V1CountsQuery, V1IndexQuery, v1 } from './v1.ts'

const tags = ['Events, versions 1 and 2']

const scopeText =
  'The scope is one of pixel_id, project_id and organization_id. If several are given, pixel_id has priority over ' +
  'project_id, and project_id over organization_id. A campaign_id is also a scope. '

const windowText = 'The window is start_ms and end_ms, or start_time and end_time. '

const identityText =
  'With an identity field in filter or distinct, it takes one of the day’s free answers about people.'

const windowMeta = {
  start_ms: Type.Integer({ description: 'Start of the window, inclusive.' }),
  end_ms: Type.Integer({ description: 'End of the window, as in the request.' }),
  request_id: Type.String(),
}

const answer = <P extends Record<string, TSchema>>(description: string, properties: P) => ({
  200: Type.Object(properties, { description }),
})

const Meta = Type.Object(
  {
    meter: Choice(meters),
    records: Type.Integer({ description: 'Number of rows in this page.' }),
    charged: Type.Integer({ description: 'Records charged.' }),
    ...windowMeta,
    offset: Type.Integer(),
    limit: Type.Integer(),
    has_more: Type.Boolean({ description: 'True if there are more rows after this page.' }),
  },
  { title: 'LegacyMeta' },
)

/** GET /api/v1/events and GET /api/v2/events. */
export const describeLegacyEvents = (version: LegacyVersion) => ({
  tags,
  operationId: version === v1 ? 'listEventsV1' : 'listEventsV2',
  summary: `List events (version ${version === v1 ? 1 : 2})`,
  description:
    `Returns events, newest first. ${scopeText}${windowText}` +
    (version.windowMsMax === null
      ? 'Both bounds are inclusive. To read DSP events, set source=svcdsp with campaign_id, or with project_id for ' +
        'all its campaigns.'
      : `The window is at most ${version.windowMsMax / 3_600_000} hours long, and its end is exclusive.`) +
    ' Charged on one meter: that of the highest tier among the fields of select, filter and distinct. Without ' +
    'select, fields with a value in a row also count. resolved is an event field.',
  querystring: version.includesEnd ? InclusiveEventsQuery : LegacyEventsQuery,
  response: {
    200: Bytes(
      Type.Object(
        { rows: Type.Array(eventRows[everyTier]), meta: Meta },
        { description: 'A page of events.' },
      ),
    ),
  },
})

/** GET /api/v1/events/scan_estimate. */
export const describeScanEstimate = {
  tags,
  operationId: 'estimateEventScan',
  summary: 'Estimate the cost of reading a page of events, not billed',
  description:
    'Accepts the parameters of GET /api/v1/events, with a window of any length, and reads no events. The estimate is ' +
    `the data that the index cannot exclude. A page that fills early reads less. ${identityText}`,
  querystring: LegacyEventsQuery,
  response: answer('The estimate.', {
    estimate: Type.Object({
      rows: Type.Integer({ description: 'Number of events to scan.' }),
      bytes: Type.Integer({
        description: 'Uncompressed bytes of the required columns, from their average size.',
      }),
      parts: Type.Integer({ description: 'Number of table parts.' }),
      marks: Type.Integer({ description: 'Number of granules of 8,192 events.' }),
    }),
    meta: Type.Object(windowMeta),
  }),
}

const CountsMeta = Type.Object(
  { ...windowMeta, has_more: Type.Boolean() },
  { title: 'LegacyCountsMeta' },
)
const total = Type.Integer({ description: 'Number of events in all groups.' })

/** GET /api/v1/event_counts. */
export const describeV1Counts = {
  tags,
  operationId: 'countEventsV1',
  summary: 'Count events (version 1), not billed',
  description: `${scopeText}${windowText}The end is exclusive. The window has any length. Not billed. ${identityText}`,
  querystring: V1CountsQuery,
  response: answer(
    'The counts. By hour or day they are sorted by time, otherwise by count, largest first. At most 10,000 groups. has_more is true if there are more.',
    { counts: Type.Array(EventCount), total, meta: CountsMeta },
  ),
}

/** GET /api/v1/event_counts_index. */
export const describeV1Index = {
  tags,
  operationId: 'getEventCountsIndex',
  summary: 'Get the index of event counts by hour or day, not billed',
  description: `${scopeText}${windowText}Omits intervals without events. Not billed. ${identityText}`,
  querystring: V1IndexQuery,
  response: answer('The index, earliest first.', {
    interval: Interval,
    index: Type.Array(
      Type.Object({
        start: Type.String({
          description: 'The hour as RFC 3339, or the day as YYYY-MM-DD, in UTC.',
        }),
        count: Type.Integer(),
        event_types: Type.Record(Type.String(), Type.Integer(), {
          description: 'Number of events by type.',
        }),
      }),
    ),
    total,
    meta: CountsMeta,
  }),
}

const { organization_id, project_id, pixel_id, campaign_id } = legacySelection

/** GET /api/v1/events_schema. */
export const describeV1Schema = {
  tags,
  operationId: 'getEventsSchemaV1',
  summary: 'Get the fields of an event (version 1), not billed',
  description: 'The scope is optional.',
  querystring: strictObject({
    project_id,
    pixel_id,
    campaign_id,
    organization_id,
    source: Type.Optional(SourceName),
  }),
  response: answer('The fields, in the order of the rows.', {
    fields: Type.Array(
      Type.Object(
        {
          ...FieldDescription.properties,
          type: Type.String({
            description: 'The same as data_type. This is its name in version 1.',
          }),
        },
        { title: 'FieldV1' },
      ),
    ),
    event_types: Type.Array(EventType),
  }),
}
