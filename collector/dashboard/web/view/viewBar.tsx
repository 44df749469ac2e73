import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { lazyPage } from '../lazyPage.tsx'
import { isShared } from '../shared.ts'
import { isSingleKey } from '../singleKeys.ts'
import { BotsLine } from './botsLine.tsx'
import { FilterChips } from './filterChips.tsx'
import { viewKeys } from './keys.ts'
import { type Period, periods } from './periods.ts'
import { SegmentPicker } from './segmentPicker.tsx'
import { changeView, type View } from './view.ts'

const FilterDialog = lazyPage(() =>
  import('./filterDialog.tsx').then(({ FilterDialog }) => FilterDialog),
)
const CustomDays = lazyPage(() => import('./customDays.tsx').then(({ CustomDays }) => CustomDays))

/** Which period, filters and comparison a page shows, and the ways to others. */
export function ViewBar({
  view,
  hasComparison = true,
  bots,
  children,
}: {
  view: View
  hasComparison?: boolean
  /** How many visitors are bots, where the page counts them; null until that is known. */
  bots?: number | null
  /** What else a page can be shown by. */
  children?: ComponentChildren
}) {
  const [open, setOpen] = useState<'filter' | 'days' | null>(null)
  const close = () => setOpen(null)
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const does = isSingleKey(event) ? viewKeys[event.key] : undefined
      if (does) changeView(does.change(view))
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [view])
  return (
    <div class="view-bar">
      <select
        aria-label="Period"
        value={view.period}
        onChange={({ currentTarget: { value } }) => {
          if (value === 'custom') setOpen('days')
          else changeView({ period: value as Period })
        }}
      >
        {Object.entries(periods).map(([period, name]) => (
          <option key={period} value={period} selected={period === view.period}>
            {period === 'custom' && view.period === 'custom'
              ? `${view.days.from} – ${view.days.to}`
              : name}
          </option>
        ))}
      </select>
      {hasComparison && (
        <label class="switch">
          <input
            type="checkbox"
            checked={view.isCompared}
            onChange={({ currentTarget: { checked } }) => changeView({ isCompared: checked })}
          />
          Compare
        </label>
      )}
      {!isShared() && (
        <button type="button" onClick={() => setOpen('filter')}>
          Filter
        </button>
      )}
      {!isShared() && <SegmentPicker view={view} />}
      {children}
      <FilterChips view={view} />
      {!isShared() && <BotsLine view={view} visitors={bots} />}
      {open === 'filter' && <FilterDialog close={close} />}
      {open === 'days' && <CustomDays days={view.days} close={close} />}
    </div>
  )
}
