import type { FastifySchema } from 'fastify'
import { described, headers, parameters } from '../events/schemas.ts'
import { daysDefault, daysMax, groupings, statisticsParameters } from './plan.ts'

const count = (description: string) => ({ type: 'integer', description })
const rate = (description: string) => ({
  type: ['number', 'null'],
  description: `${description}, from 0 to 1; null of none.`,
})

const counts = {
  events: count('Events that pixels captured.'),
  resolved_events: count('Of these, events whose visitor is identified.'),
  visitors: count('Distinct cookies; without consent a cookie lasts a day.'),
  resolved_visitors: count('Of these, cookies that belong to somebody known.'),
  people: count('Distinct people (hem) that these belong to.'),
  event_rate: rate('resolved_events ÷ events'),
  visitor_rate: rate('resolved_visitors ÷ visitors'),
}

/** GET /api/v1/resolution/statistics. */
export const describeStatistics: FastifySchema = {
  tags: ['Identity'],
  operationId: 'getResolutionStatistics',
  summary: 'Get identity resolution statistics, not billed',
  description:
    `Of all projects, one project or one pixel, over ${daysDefault} days unless the request says otherwise, at most ` +
    `${daysMax}. Events are counted by who their visitors are now known to be. Groups without events are left out.`,
  headers,
  querystring: described(statisticsParameters, {
    ...parameters,
    start_ms: {
      ...parameters.start_ms,
      description: `First millisecond of the window since 1970. Default: ${daysDefault} days before its end.`,
    },
    group_by: {
      type: 'string',
      description: `Comma-separated, any of ${groupings.join(', ')}; days are UTC. Without it there is the total alone.`,
    },
  }),
  response: {
    200: {
      description: 'The groups, latest days first, and their total.',
      content: {
        'application/json': {
          schema: {
            type: 'object',
            required: ['statistics', 'total', 'meta'],
            properties: {
              statistics: {
                type: 'array',
                items: {
                  type: 'object',
                  additionalProperties: false,
                  required: Object.keys(counts),
                  properties: {
                    day: { type: 'string', format: 'date' },
                    project_id: { type: 'string', format: 'uuid' },
                    pixel_id: { type: 'string', format: 'uuid' },
                    ...counts,
                  },
                },
              },
              total: {
                type: 'object',
                additionalProperties: false,
                required: Object.keys(counts),
                properties: counts,
              },
              meta: {
                type: 'object',
                required: ['start_ms', 'end_ms', 'has_more', 'request_id'],
                properties: {
                  start_ms: { type: 'integer', description: 'Start of the window, inclusive.' },
                  end_ms: { type: 'integer', description: 'End of the window, exclusive.' },
                  has_more: { type: 'boolean', description: 'True when there are more groups than 10,000.' },
                  request_id: { type: 'string' },
                },
              },
            },
          },
        },
      },
    },
  },
}
