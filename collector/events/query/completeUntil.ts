import type { Principal } from '../../api/access/principal.ts'
import { busy } from '../../api/http/errors.ts'
import { readCompleteUntil } from '../../ingest/spool/collectors.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { ttlCache } from '../../platform/ttlCache.ts'
import type { RowKey } from './cursor.ts'
import type { EventsPlan } from './selection.ts'
import type { Window } from './window.ts'

/**
 * Up to when everything that was received is in ClickHouse, epoch milliseconds; null while nobody knows. To be asked
 * before the events are. The sample of test keys is there beforehand.
 */
export function createCompleteUntil(postgres: Postgres, now: () => number) {
  const live = ttlCache(() => readCompleteUntil(postgres))
  return async (principal: Principal): Promise<number | null> =>
    principal.mode === 'test' ? now() : live('')
}

const retrySeconds = 1

/** The window that a plan reads: of a feed only what is complete. Throws 503 "busy" when that is not known. */
export function readableWindow(
  { order, window }: Pick<EventsPlan, 'order' | 'window'>,
  completeUntil: number | null,
): Window {
  if (order !== 'received') return window
  if (completeUntil === null)
    throw busy('No collector has told yet up to when its events can be read.', retrySeconds)
  const { startMs, endMs } = window
  return { startMs, endMs: Math.max(startMs, Math.min(endMs, completeUntil)) }
}

const firstId = '00000000-0000-0000-0000-000000000000'

/** Where a feed goes on that has been read to the end of what is complete; null when that was all that was asked for. */
export function feedEnd({ cursor }: EventsPlan, asked: Window, read: Window): RowKey | null {
  if (read.endMs >= asked.endMs) return null
  // What is complete may have become less, when ClickHouse lost something in a crash.
  return cursor && cursor.from.millis >= read.endMs
    ? cursor.from
    : { millis: read.endMs, eventId: firstId }
}
