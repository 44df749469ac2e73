import { Type } from 'typebox'
import { EventFilterText, type Filter } from '../events/query/filter/filter.ts'
import { dayMs } from '../platform/days.ts'
import { readEventFilters } from './figuresRequest.ts'

const stepsMax = 10
const daysMax = 90
/** The most time that the steps of a funnel may take. */
export const withinMsMax = daysMax * dayMs

export const Steps = Type.Array(EventFilterText, {
  minItems: 2,
  maxItems: stepsMax,
  description: 'Filters, one for each step, in order.',
  examples: [['page_path:eq:/pricing', 'event_type:eq:form_submission']],
})

export const WithinMs = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: withinMsMax,
    default: dayMs,
    description: `Longest time from the first step to the last, in milliseconds. At most ${daysMax} days.`,
  }),
)

/** A funnel: the filters of each step, and the time limit of all of them. */
export interface FunnelSteps {
  readonly steps: readonly (readonly Filter[])[]
  readonly withinMs: number
}

/** Reads steps. Throws 400 that names the step with an invalid filter. */
export const readSteps = (steps: readonly string[], withinMs = dayMs): FunnelSteps => ({
  steps: steps.map((text, index) => readEventFilters(`steps[${index}]`, text)),
  withinMs,
})
