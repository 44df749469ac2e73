import { attempt } from './safe.ts'

/** An event as it is sent, in JSON, or what makes one when it is encoded. */
export type Entry = string | (() => string)

/** Events that are not sent yet, in order. */
export let queue: Entry[] = []

/** Turns recorded browser events into events. */
export const encode = (): void => {
  queue = queue.flatMap((entry) =>
    (entry as string).trim ? entry : attempt(entry as () => string) || [],
  )
}

export const dropAll = (): void => {
  queue = []
}
