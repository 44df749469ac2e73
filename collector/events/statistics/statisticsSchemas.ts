import { Type } from 'typebox'
import { Day, Id, Nullable } from '../../api/http/commonSchemas.ts'
import { daysDefault, daysMax, StatisticsQuery } from './statisticsRequest.ts'

const count = (description: string) => Type.Integer({ description })
const rate = (description: string) =>
  Nullable(Type.Number(), { description: `${description}, from 0 to 1; null of none.` })

const counts = {
  events: count('Events that pixels captured.'),
  resolved_events: count('Of these, events whose visitor is identified.'),
  visitors: count('Distinct cookies; without consent a cookie lasts a day.'),
  resolved_visitors: count('Of these, cookies that belong to somebody known.'),
  people: Nullable(Type.Integer(), {
    description:
      'Deprecated, always null. A free number of people reveals who a chosen visitor is. A visitors route returns people.',
  }),
  event_rate: rate('resolved_events ÷ events'),
  visitor_rate: rate('resolved_visitors ÷ visitors'),
}

const groups = {
  day: Type.Optional(Day),
  project_id: Type.Optional(Id),
  pixel_id: Type.Optional(Id),
}

/** GET /api/v1/resolution/statistics. */
export const describeStatistics = {
  tags: ['Identity'],
  operationId: 'getResolutionStatistics',
  summary: 'Get identity resolution statistics, not billed',
  description:
    `Of all projects, one project or one pixel, over ${daysDefault} days unless the request says otherwise, at most ` +
    `${daysMax}. Events are counted by who their visitors are now known to be. Groups without events are left out.`,
  querystring: StatisticsQuery,
  response: {
    200: Type.Object(
      {
        statistics: Type.Array(
          Type.Object(
            { ...groups, ...counts },
            { title: 'ResolutionStatistics', additionalProperties: false },
          ),
        ),
        total: Type.Object(counts, { title: 'ResolutionTotal', additionalProperties: false }),
        meta: Type.Object({
          start_ms: Type.Integer({ description: 'Start of the window, inclusive.' }),
          end_ms: Type.Integer({ description: 'End of the window, exclusive.' }),
          has_more: Type.Boolean({ description: 'True when there are more groups than 10,000.' }),
          request_id: Type.String(),
        }),
      },
      { description: 'The groups, latest days first, and their total.' },
    ),
  },
}
