import type { Principal } from '../../../api/access/principal.ts'
import { busy } from '../../../api/http/errors.ts'
import { readCompleteUntil } from '../../../platform/collectors.ts'
import type { Postgres } from '../../../platform/postgres/pool.ts'
import { ttlCache } from '../../../platform/ttlCache.ts'
import type { Order } from '../order.ts'
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

/** A feed reads only the complete part of its window. Throws 503 "busy" if that is unknown. */
export function readableWindow(
  { order, window }: { readonly order: Order; readonly window: Window },
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
