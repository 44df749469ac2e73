import type { View } from './view.ts'

/** What single keys do on pages that have a view. */
export const viewKeys: Record<string, { does: string; change(view: View): Partial<View> }> = {
  d: { does: 'Today', change: () => ({ period: 'today' }) },
  w: { does: 'Last 7 days', change: () => ({ period: 'days7' }) },
  t: { does: 'Last 30 days', change: () => ({ period: 'days30' }) },
  y: { does: 'Last 365 days', change: () => ({ period: 'days365' }) },
  c: {
    does: 'Compare with the previous period',
    change: ({ isCompared }) => ({ isCompared: !isCompared }),
  },
  Escape: { does: 'Remove all filters', change: () => ({ filters: [] }) },
}
