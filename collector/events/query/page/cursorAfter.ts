import type { Window } from '../window/window.ts'
import type { Cursor, RowKey } from './cursor.ts'
import type { CursorPlan, EventsPlan } from './eventsPlan.ts'

const firstId = '00000000-0000-0000-0000-000000000000'

/**
 * Returns the start of the next page, or null after the last page. `next` is the key of the first row after
 * this page. `requested` is the window of the request; a feed reads only the complete part of it.
 */
export function cursorAfter(
  plan: CursorPlan,
  requested: Window,
  next: RowKey | null,
): Cursor | null {
  const { order, question, window } = plan
  const isFeed = order === 'received'
  const from = next ?? (isFeed ? feedEnd(plan, requested) : null)
  return from && { order, from, window: isFeed ? requested : window, question }
}

/**
 * Returns the position from which a feed continues after all complete events; null at the end of the window.
 */
function feedEnd({ cursor, window }: EventsPlan, requested: Window): RowKey | null {
  if (window.endMs >= requested.endMs) return null
  // The complete part may have become shorter, if ClickHouse lost rows in a crash.
  return cursor && cursor.from.millis >= window.endMs
    ? cursor.from
    : { millis: window.endMs, eventId: firstId }
}
