import { splitFilter } from './filterText.ts'
import type { Period } from './periods.ts'

/** The part of a view that selects visitors. */
interface Selection {
  period: Period
  filters: readonly string[]
  pixelId: string | undefined
  hasBots: boolean
}

/** Fields that figures read from single events, as audiences do. They read others from sessions. */
const eventFields: readonly string[] = ['event_type', 'page_path', 'page_host', 'page_url']

function isOfEvents(filter: string): boolean {
  const [field = ''] = filter.split(':')
  return eventFields.includes(field) || field.startsWith('event_data.')
}

/**
 * Returns the query of the page that creates an audience, with the conditions of a view; null if an audience cannot
 * express them.
 */
export function audienceSearch({ period, filters, pixelId, hasBots }: Selection): string | null {
  const days = Number(/^days(\d+)$/.exec(period)?.[1])
  const all = filters.flatMap(splitFilter)
  if (!days || pixelId || all.length === 0 || !all.every(isOfEvents)) return null
  return `?${new URLSearchParams({
    event_filter: [...all, ...(hasBots ? [] : ['is_bot:eq:false'])].join(','),
    // Audiences count today in addition to these days.
    within_days: String(days - 1),
  })}`
}
