import type { Answer } from '../../../../api/client/index.ts'
import { counted } from '../../format.ts'
import { readGoalProperty } from './goalFilter.ts'

type Goal = Answer<'getAnalyticsConversions'>['conversions'][number]

/** Warns of events of a goal whose value is missing, because they add nothing to its revenue. */
export function MissingValues({ goal: { missing_values } }: { goal: Goal }) {
  if (!missing_values || missing_values.events === 0) return null
  const { events, property } = missing_values
  return (
    <span class="missing-values">
      {counted(events, 'event')} {events === 1 ? 'has' : 'have'} no number at{' '}
      {readGoalProperty(property)}
    </span>
  )
}
