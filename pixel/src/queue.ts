import type { CapturedData, CapturedType } from '../../schemas/captured.ts'
import { level } from './consent.ts'
import { find } from './element.ts'
import { common } from './events/custom.ts'
import { currentReferrer } from './events/page_view.ts'
import { attempt, json, store } from './safe.ts'
import { schedule } from './send.ts'

/** An event as it is sent, in JSON, or what makes one when it is encoded. */
export type Entry = string | (() => string)

/** Events that are not sent yet, in order. */
export let queue: Entry[] = []
/** 30 days, the most that the collector accepts without a key (keylessAgeDaysMax). */
const ageMsMax = 2592e6
/** The maximum number of waiting events. */
const entriesMax = 500

/** The key in storage for refused events. */
export const parked = config.queueName

/**
 * The only work of a listener: it keeps time and place, and leaves the rest for later. Events on an ignored
 * path are not recorded.
 */
export const note = <T extends CapturedType>(
  type: T,
  data: () => CapturedData<T>,
  path: EventTarget[] = [],
): void => {
  const url = location.href
  const at = Date.now()
  if (level && !queue[entriesMax - 1])
    queue.push(() =>
      find(path, '[data-footfall-ignore]')
        ? ''
        : json({
            url,
            referrer: currentReferrer(),
            at,
            properties: common,
            ...data(),
            id: Math.random(),
            type,
          }),
    )
  schedule()
}

/** Turns recorded browser events into events. */
export const encode = (): void => {
  queue = queue.flatMap((entry) =>
    (entry as string).trim ? entry : attempt(entry as () => string) || [],
  )
}

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

export const dropAll = (): void => {
  queue = []
}
