import type { Principal } from '../../api/access/principal.ts'
import { busy } from '../../api/http/errors.ts'
import { readCompleteUntil } from '../../platform/collectors.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { ttlCache } from '../../platform/ttlCache.ts'
import type { Cursor, RowKey } from './cursor.ts'
import type { CursorPlan, EventsPlan } from './selection.ts'
import type { Window } from './window.ts'

/**
 * Time until which ClickHouse has all received events, epoch milliseconds; null if unknown. Read it before
 * the events. The sample of test keys is complete in advance.
 */
export function createCompleteUntil(postgres: Postgres, now: () => number) {
  const live = ttlCache(() => readCompleteUntil(postgres))
  return async (principal: Pick<Principal, 'mode'>): Promise<number | null> =>
    principal.mode === 'test' ? now() : live('')
}

const retrySeconds = 1

/**
 * Returns the window that a plan reads; a feed reads only the complete part. Throws 503 "busy" if that is
 * unknown.
 */
export function readableWindow(
  { order, window }: Pick<EventsPlan, 'order' | 'window'>,
  completeUntil: number | null,
): Window {
  if (order !== 'received') return window
  if (completeUntil === null)
    throw busy(
      'No collector has reported yet until when its events are complete. Retry later.',
      retrySeconds,
    )
  const { startMs, endMs } = window
  return { startMs, endMs: Math.max(startMs, Math.min(endMs, completeUntil)) }
}

const firstId = '00000000-0000-0000-0000-000000000000'

/**
 * Returns the start of the next page, or null after the last page. `next` is the key of the first row after
 * this page. `asked` is the window of the request; a feed reads only the complete part of it.
 */
export function cursorAfter(plan: CursorPlan, asked: Window, next: RowKey | null): Cursor | null {
  const { order, question, window } = plan
  const isFeed = order === 'received'
  const from = next ?? (isFeed ? feedEnd(plan, asked) : null)
  return from && { order, from, window: isFeed ? asked : window, question }
}

/**
 * Returns the position from which a feed continues after all complete events; null at the end of the window.
 */
function feedEnd({ cursor, window }: EventsPlan, asked: Window): RowKey | null {
  if (window.endMs >= asked.endMs) return null
  // The complete part may have become shorter, if ClickHouse lost rows in a crash.
  return cursor && cursor.from.millis >= window.endMs
    ? cursor.from
    : { millis: window.endMs, eventId: firstId }
}
