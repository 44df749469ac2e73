import { api } from '../api.ts'
import { counted } from '../format.ts'
import { projectOfPath } from '../projectPath.ts'
import { currentPath } from '../router.tsx'
import { useQueryOf } from '../useQuery.ts'
import { changeView, isAboutBots, isAboutSessions, useView, type View } from './view.ts'

/**
 * Shows whether the figures of the page include bots, and switches it. `visitors` is the number of bots:
 * undefined if the page does not count them, null until it is loaded. Filters on bots have priority.
 */
export function BotsLine({ view, visitors }: { view: View; visitors: number | null | undefined }) {
  if (view.filters.some(isAboutBots)) return null
  return visitors === undefined && !view.hasBots ? (
    <UncountedBots view={view} />
  ) : (
    <Line hasBots={view.hasBots} visitors={visitors} />
  )
}

/** Looks whether the page hides any event of a bot, because it does not count them. */
function UncountedBots({ view: { filters } }: { view: View }) {
  const { query } = useView(projectOfPath(currentPath.value)!)
  // Events have no fields of sessions.
  const filter = [...filters.filter((one) => !isAboutSessions(one)), 'is_bot:eq:true'].join(',')
  const { include_bots, ...asked } = { ...query, filter }
  const { value } = useQueryOf(JSON.stringify(asked), () => api.countEvents(asked))
  return <Line hasBots={false} visitors={value && value.total > 0 ? undefined : null} />
}

function Line({ hasBots, visitors }: { hasBots: boolean; visitors: number | null | undefined }) {
  // Its room stays, so that nothing moves when the count arrives.
  if (!hasBots && (visitors === null || visitors === 0))
    return (
      <p class="hint bots room" aria-hidden="true">
        0 bot visitors hidden Include bots
      </p>
    )
  const state = hasBots ? 'included' : 'hidden'
  return (
    <p class="hint bots">
      {typeof visitors === 'number'
        ? `${counted(visitors, 'bot visitor')} ${state}`
        : `Bots ${state}`}{' '}
      <button type="button" class="link" onClick={() => changeView({ hasBots: !hasBots })}>
        {hasBots ? 'Hide bots' : 'Include bots'}
      </button>
    </p>
  )
}
