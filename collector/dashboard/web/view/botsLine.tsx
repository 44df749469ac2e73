import { counted } from '../format.ts'
import { changeView, isAboutBots, type View } from './view.ts'

/**
 * Says whether bots count in what the page shows, and switches it. `visitors` is how many bots there are: undefined
 * where the page does not count them, null until the count is known. Filters on bots decide by themselves.
 */
export function BotsLine({
  view: { hasBots, filters },
  visitors,
}: {
  view: View
  visitors: number | null | undefined
}) {
  if (filters.some(isAboutBots)) return null
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
