import { level, parked } from './consent.ts'
import { attempt, json, store } from './safe.ts'
import { dropAll, type Entry, encode, queue } from './waiting.ts'

/** 30 days, the most that the collector accepts without a key (keylessAgeDaysMax). */
const ageMsMax = 2592e6

/** Restores events that this page or an earlier one stored. */
export const restoreQueue = (): void => {
  attempt(() => {
    // An error that is thrown, as by parsing undefined, costs more than all the rest of it.
    if (level > 2 && localStorage[parked]) {
      queue.unshift(
        ...JSON.parse(localStorage[parked]).map(
          (event: { at: number }) => () => event.at > Date.now() - ageMsMax && json(event),
        ),
      )
      store(parked)
    }
  })
}

/**
 * Refused: the batch waits again, in storage if that is allowed, because the next page may send it together
 * with parked events. It is removed from the array, so that this happens once.
 */
export const requeue = (batch: Entry[]): void => {
  queue.unshift(...batch.splice(0))
  restoreQueue()
  encode()
  if (level > 2 && store(parked, `[${queue}]`)) dropAll()
}
