import { eventClock } from '../../format.ts'
import { isShared } from '../../shared.ts'
import { useRepeat } from '../../useQuery.ts'
import { wholeOf } from '../../view/periods.ts'
import { refreshes, type View } from '../../view/view.ts'
import { zone } from '../../zone.ts'

const refreshMs = 30_000
/** All viewers of a share link use one rate limit. */
const sharedRefreshMs = 120_000

const refresh = async () => {
  refreshes.value++
}

/**
 * Shows the time of the figures (epoch milliseconds), with a button that refreshes them. Figures of a period
 * that has not ended are refreshed repeatedly while the page is visible.
 */
export function AsOf({ at, view }: { at: number | undefined; view: View }) {
  const isCurrent = wholeOf(view.days, zone.value).end_ms > Date.now()
  useRepeat(refresh, isShared() ? sharedRefreshMs : refreshMs, isCurrent)
  return (
    <div class="as-of">
      <span class="meta number">{at !== undefined && `as of ${eventClock(at)}`}</span>
      <button type="button" class="link" onClick={refresh}>
        Refresh
      </button>
    </div>
  )
}
