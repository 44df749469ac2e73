import { type TSchema, Type } from 'typebox'
import { Bytes, Choice, strictObject } from '../../api/http/commonSchemas.ts'
import { FieldDescription } from '../../api/http/rowSchemas.ts'
import { meters } from '../../billing/meters.ts'
import { EventCount, EventType } from '../eventSchemas.ts'
import { FreeFilterText } from '../query/filter.ts'
import { everyTier } from '../query/parseEventsRequest.ts'
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
  'One of pixel_id, project_id and organization_id says whose events; of several, pixel_id wins over project_id, ' +
  'which wins over organization_id. A campaign_id alone serves too. '

const windowText = 'The window is given as start_ms and end_ms, or as start_time and end_time. '

const windowMeta = {
  start_ms: Type.Integer({ description: 'Start of the window, inclusive.' }),
  end_ms: Type.Integer({ description: 'End of the window, as it was asked for.' }),
  request_id: Type.String(),
}

const answer = <P extends Record<string, TSchema>>(description: string, properties: P) => ({
  200: Type.Object(properties, { description }),
})

const Meta = Type.Object(
  {
    meter: Choice(meters),
    records: Type.Integer({ description: 'Rows in this page.' }),
    charged: Type.Integer({ description: 'Records charged.' }),
    ...windowMeta,
    offset: Type.Integer(),
    limit: Type.Integer(),
    has_more: Type.Boolean({ description: 'True when there are rows after these.' }),
  },
  { title: 'LegacyMeta' },
)

/** GET /api/v1/events and GET /api/v2/events. */
export const describeLegacyEvents = (version: LegacyVersion) => ({
  tags,
  operationId: version === v1 ? 'listEventsV1' : 'listEventsV2',
  summary: `List events (version ${version === v1 ? 1 : 2})`,
  description:
    `Newest first. ${scopeText}${windowText}` +
    (version.windowMsMax === null
      ? 'Both bounds are inclusive. source=svcdsp with campaign_id, or with project_id for all its campaigns, reads ' +
        'DSP events.'
      : `It is at most ${version.windowMsMax / 3_600_000} hours long; its end is exclusive.`) +
    ' Charged on one meter, that of the highest tier among the fields of select, filter and distinct; without ' +
    'select those count, too, that have a value in a row. resolved is a field of events.',
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
  summary: 'Estimate what a page of events reads, not billed',
  description:
    'Takes the parameters of GET /api/v1/events, with a window of any length, and reads no events: this is what the ' +
    'index cannot rule out. A page that fills early needs less.',
  querystring: strictObject({
    ...LegacyEventsQuery.properties,
    filter: Type.Optional(FreeFilterText),
  }),
  response: answer('The estimate.', {
    estimate: Type.Object({
      rows: Type.Integer({ description: 'Events, looked at to find those asked for.' }),
      bytes: Type.Integer({
        description: 'Uncompressed, of the columns needed, by their average size.',
      }),
      parts: Type.Integer({ description: 'Parts of tables.' }),
      marks: Type.Integer({ description: 'Granules of 8,192 events.' }),
    }),
    meta: Type.Object(windowMeta),
  }),
}

const CountsMeta = Type.Object(
  { ...windowMeta, has_more: Type.Boolean() },
  { title: 'LegacyCountsMeta' },
)
const total = Type.Integer({ description: 'Events in all groups.' })

/** GET /api/v1/event_counts. */
export const describeV1Counts = {
  tags,
  operationId: 'countEventsV1',
  summary: 'Count events (version 1), not billed',
  description: `${scopeText}${windowText}Its end is exclusive, and it may be of any length.`,
  querystring: V1CountsQuery,
  response: answer(
    'Counts, in the order of time where they are by hour or day, then largest first, of at most 10,000 groups; has_more says whether there are more.',
    { counts: Type.Array(EventCount), total, meta: CountsMeta },
  ),
}

/** GET /api/v1/event_counts_index. */
export const describeV1Index = {
  tags,
  operationId: 'getEventCountsIndex',
  summary: 'Get the index of event counts by hour or day, not billed',
  description: `${scopeText}${windowText}Intervals without events are left out.`,
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
          description: 'How many of each type.',
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
  description: 'The scope may be named, and need not be.',
  querystring: strictObject({
    project_id,
    pixel_id,
    campaign_id,
    organization_id,
    source: Type.Optional(SourceName),
  }),
  response: answer('The fields, in the order in which rows have them.', {
    fields: Type.Array(
      Type.Object(
        {
          ...FieldDescription.properties,
          type: Type.String({ description: 'The same as data_type, under its name in version 1.' }),
        },
        { title: 'FieldV1' },
      ),
    ),
    event_types: Type.Array(EventType),
  }),
}
