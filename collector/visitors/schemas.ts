import type { FastifySchema } from 'fastify'
import { selectableAt } from '../../schemas/fields.ts'
import { described, eventRowOf, headers, parameters, tierNames } from '../events/schemas.ts'
import { formats } from '../http/negotiateFormat.ts'
import { kinds, type VisitorTier, visitorsMax, visitorsParameters, visitorTiers } from './plan.ts'

/** What the parameters mean here; those of the tier routes mean the same. */
const ofVisitors = {
  ...parameters,
  project_id: {
    ...parameters.project_id,
    description: `${parameters.project_id.description} This or pixel_id is required.`,
  },
  kind: {
    type: 'string',
    enum: kinds,
    default: 'buyers',
    description:
      'buyers: one row for each person, by hem. accounts: one for each company, by company_domain; at ' +
      'resolution_full_profile only. Whose company nobody knows is no account.',
  },
  start_ms: { ...parameters.start_ms, description: 'Required. First millisecond of the window since 1970.' },
  end_ms: {
    ...parameters.end_ms,
    description: 'Required. First millisecond after the window since 1970.',
  },
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: visitorsMax,
    description: 'Required. Most visitors in the answer; the most recent are kept.',
  },
  include_dsp: {
    type: 'boolean',
    default: false,
    description:
      'Adds visitors of the project’s DSP campaigns. They are read only when project_id is given; a pixel_id beside ' +
      'it narrows what pixels captured and not the campaigns.',
  },
  select: {
    type: 'string',
    description:
      'Comma-separated fields, in the order they are wanted. Default: every field of the tier. Fewer make the ' +
      'answer smaller, not cheaper.',
  },
} as const

/** GET /api/v3/events/{tier}/visitors. */
export const describeVisitors = (tier: VisitorTier): FastifySchema => ({
  tags: ['Events'],
  // The cheapest tier has the plain name, as with events.
  operationId: `listVisitors${tier === visitorTiers[0] ? '' : tierNames[tier]}`,
  summary: `List identified visitors (${tier})`,
  description:
    'Each with the fields of its newest event in the window, most recent first. There is no paging: for earlier ' +
    'visitors take an earlier window. Each visitor is charged once a request, on the meter of the tier. ' +
    'Accept: application/x-ndjson and text/csv give the same rows as lines; what the JSON answer says beside them ' +
    'stands in the headers X-Footfall-Records and X-Footfall-Has-Partial-Data then. With every answer come ' +
    'X-Footfall-Charged and X-Footfall-Request-Id. A filter is about events: of those that meet it the newest counts.',
  headers,
  querystring: {
    ...described(visitorsParameters, ofVisitors),
    required: ['start_ms', 'end_ms', 'limit'],
  },
  response: {
    200: {
      description: 'The visitors.',
      content: {
        [formats.json]: {
          schema: {
            type: 'object',
            required: ['visitors', 'count', 'has_partial_data'],
            additionalProperties: false,
            properties: {
              visitors: { type: 'array', items: eventRowOf(selectableAt(tier)) },
              count: { type: 'integer', description: 'Rows returned.' },
              has_partial_data: {
                type: 'boolean',
                description: 'True when part of the window could not be read: visitors may be missing.',
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
