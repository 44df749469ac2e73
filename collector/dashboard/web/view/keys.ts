import { zone } from '../zone.ts'
import { neighbourOf } from './periods.ts'
import type { View } from './view.ts'

/** The single-key shortcuts of pages with a view. */
export const viewKeys: Record<string, { does: string; change(view: View): Partial<View> }> = {
  d: { does: 'Today', change: () => ({ period: 'today' }) },
  e: { does: 'Yesterday', change: () => ({ period: 'yesterday' }) },
  w: { does: 'Last 7 days', change: () => ({ period: 'days7' }) },
  t: { does: 'Last 30 days', change: () => ({ period: 'days30' }) },
  m: { does: 'This month', change: () => ({ period: 'month' }) },
  y: { does: 'Last 365 days', change: () => ({ period: 'days365' }) },
  ',': {
    does: 'Earlier period',
    change: ({ days }) => neighbourOf(days, -1, Date.now(), zone.value) ?? {},
  },
  '.': {
    does: 'Later period',
    change: ({ days }) => neighbourOf(days, 1, Date.now(), zone.value) ?? {},
  },
  c: {
    does: 'Compare with the previous period',
    change: ({ comparison }) => ({ comparison: comparison === 'off' ? 'previous' : 'off' }),
  },
  Escape: { does: 'Remove all filters', change: () => ({ filters: [] }) },
}
