import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { AnalyticsPlan } from './figuresRequest.ts'

export const tags = ['Analytics']
/** Tag of goals, alerts and share links, which users configure. */
export const settingsTags = ['Analytics settings']
/** Tag of funnels, journeys and similar sequences. */
export const behaviorTags = ['Conversions and journeys']

export const FiguresMeta = Type.Object(
  {
    start_ms: Type.Integer({ description: 'Start of the window, inclusive.' }),
    end_ms: Type.Integer({ description: 'End of the window, exclusive.' }),
    request_id: Type.String(),
  },
  { title: 'FiguresMeta' },
)

export const metaOf = (
  { id }: FastifyRequest,
  { window }: AnalyticsPlan,
): Static<typeof FiguresMeta> => ({
  start_ms: window.startMs,
  end_ms: window.endMs,
  request_id: id,
})
