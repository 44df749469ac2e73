import { attempt } from './safe.ts'

/** An event as it is sent, in JSON, or what makes one when it is encoded. */
export type Entry = string | (() => string)

/** Events that are not sent yet, in order. */
export let queue: Entry[] = []

/** Turns recorded browser events into events. Keeps the oldest, within a size: they may go into the site's storage. */
export const encode = (): void => {
  let chars = 2e5
  queue = queue.flatMap((entry) => {
    const text = (entry as string).trim ? (entry as string) : attempt(entry as () => string)
    return text && (chars -= text.length) > 0 ? text : []
  })
}

export const dropAll = (): void => {
  queue = []
}
