import type { Alert } from '../../api.ts'
import { counted, wholeNumber } from '../../format.ts'
import { textOf } from '../../view/filterText.ts'

type Condition = Alert['condition']

export const kindNames: Record<Condition['kind'], string> = {
  threshold: 'A figure is above or below a value',
  change: 'A figure differs from the usual',
  silence: 'No events arrive',
  goal: 'A goal is reached',
}
export const metricNames: Record<Condition['metric'], string> = {
  visitors: 'Visitors',
  page_views: 'Page views',
  events: 'Events',
}
export const windowNames: Record<Condition['window'], string> = {
  hour: 'in an hour',
  day: 'in 24 hours',
}

const sides = { above: 'above', below: 'below', either: 'above or below' } as const

/** Returns a condition as one line. */
export function conditionText(condition: Condition): string {
  const { kind, metric, window, direction, value, filter, goal } = condition
  const when = windowNames[window] + (filter ? ` (${textOf(filter)})` : '')
  switch (kind) {
    case 'silence':
      return `No events ${when}`
    case 'goal':
      return `${counted(value, 'visitor')} ${value === 1 ? 'reaches' : 'reach'} ${goal} ${when}`
    case 'change':
      return `${metricNames[metric]} ${value}% ${sides[direction]} the usual ${when}`
    default:
      return `${metricNames[metric]} ${sides[direction]} ${wholeNumber(value)} ${when}`
  }
}

export const stateOf = ({ active, is_raised, last_checked_at, last_value }: Alert): string => {
  if (!active) return 'Off'
  if (is_raised) return 'Raised'
  if (last_checked_at === null) return 'Not checked yet'
  return last_value === null ? 'Nothing to compare with' : 'Normal'
}
