import { Type } from 'typebox'
import { Day, Id, Nullable } from '../../api/http/commonSchemas.ts'
import { daysDefault, daysMax, StatisticsQuery } from './statisticsRequest.ts'

const count = (description: string) => Type.Integer({ description })
const rate = (description: string) =>
  Nullable(Type.Number(), { description: `${description}, from 0 to 1. Null if there are none.` })

const counts = {
  events: count('Events that pixels recorded.'),
  resolved_events: count('Events of identified visitors.'),
  visitors: count('Distinct cookies. Without consent a cookie lasts one day.'),
  resolved_visitors: count('Cookies of identified visitors.'),
  people: Nullable(Type.Integer(), {
    description:
      'Deprecated, always null. A free count of people can identify a visitor. Read people from a visitors route.',
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
    `Returns figures of all projects, one project or one pixel. Default window: ${daysDefault} days. Longest: ` +
    `${daysMax} days. Events count by the current identity of their visitors. Omits groups without events.`,
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
          has_more: Type.Boolean({ description: 'True if there are more than 10,000 groups.' }),
          request_id: Type.String(),
        }),
      },
      { description: 'The groups, latest days first, and their total.' },
    ),
  },
}
