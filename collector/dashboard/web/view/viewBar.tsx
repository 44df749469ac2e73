import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { lazyPage } from '../lazyPage.tsx'
import { isShared } from '../shared.ts'
import { isSingleKey } from '../singleKeys.ts'
import { BotsLine } from './botsLine.tsx'
import { FilterChips } from './filterChips.tsx'
import { viewKeys } from './keys.ts'
import { PeriodPicker } from './periodPicker.tsx'
import { SegmentPicker } from './segmentPicker.tsx'
import { changeView, type View } from './view.ts'

const FilterDialog = lazyPage(() =>
  import('./filterDialog.tsx').then(({ FilterDialog }) => FilterDialog),
)

/** The period, filters and comparison of a page, with controls to change them. */
export function ViewBar({
  view,
  hasComparison = true,
  ofEvents = false,
  bots,
  children,
}: {
  view: View
  hasComparison?: boolean
  /** Whether filters select events, which have no session fields. */
  ofEvents?: boolean
  /** The number of bots, if the page counts them; null while it loads. */
  bots?: number | null
  /** Further controls of the page. */
  children?: ComponentChildren
}) {
  const [filtering, setFiltering] = useState<string | null>(null)
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
      <PeriodPicker view={view} hasComparison={hasComparison} />
      {!isShared() && (
        <button type="button" onClick={() => setFiltering('')}>
          Filter
        </button>
      )}
      {!isShared() && <SegmentPicker view={view} />}
      {children}
      <FilterChips view={view} edit={setFiltering} />
      {!isShared() && <BotsLine view={view} visitors={bots} />}
      {filtering !== null && (
        <FilterDialog
          filters={view.filters}
          value={filtering}
          hasSessions={!ofEvents}
          close={() => setFiltering(null)}
        />
      )}
    </div>
  )
}
