import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { Nullable } from '../api/http/commonSchemas.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'

export const tags = ['Analytics']
/** Tag of goals, alerts and share links, which users configure. */
export const settingsTags = ['Analytics settings']
/** Segments, funnels and annotations, which people save. */
export const savedTags = ['Saved items']
/** What visitors do one after the other. */
export const behaviorTags = ['Conversions and journeys']

/** The values of events of goals. */
export const Amount = Type.Object(
  {
    value: Type.Number({ description: 'Sum of the values of the events.' }),
    currency: Type.String({ description: 'Currency of the goal (ISO 4217).' }),
  },
  { title: 'AnalyticsRevenue', additionalProperties: false },
)

export const Revenue = Nullable(Amount, {
  description: 'Revenue of the goal. Null if the goal has no value.',
})

export const FiguresMeta = Type.Object(
  {
    start_ms: Type.Integer({ description: 'Start of the window, inclusive.' }),
    end_ms: Type.Integer({ description: 'End of the window, exclusive.' }),
    time_zone: Type.String({ description: 'IANA time zone of days, hours, weeks and months.' }),
    request_id: Type.String(),
  },
  { title: 'FiguresMeta' },
)

export const metaOf = (
  { id }: FastifyRequest,
  { window, zone }: AnalyticsPlan,
): Static<typeof FiguresMeta> => ({
  start_ms: window.startMs,
  end_ms: window.endMs,
  time_zone: zone.name,
  request_id: id,
})
