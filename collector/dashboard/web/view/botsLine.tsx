import { counted } from '../format.ts'
import { changeView, isAboutBots, type View } from './view.ts'

/**
 * Shows whether the figures of the page include bots, and switches it. `visitors` is the number of bots:
 * undefined if the page does not count them, null until it is loaded. Filters on bots have priority.
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
