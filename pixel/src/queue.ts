import type { EventType } from '../../schemas/events/index.ts'
import type { NotedData } from '../../schemas/noted.ts'
import { pixelId, secrets } from './config.ts'
import { level } from './consent.ts'
import { find, ignored } from './element.ts'
import { attempt } from './guard.ts'
import { uuid } from './identity.ts'
import { restReactions } from './reaction.ts'
import { schedule } from './send.ts'

/** Tells of one event, in full; where and when are those of the moment it was noted. */
export type Tell = <T extends EventType>(type: T, data: NotedData<T>) => void

/** Noted, not yet encoded: getters of the data are read, and functions tell what there is, when it is. */
let noted: [
  type: EventType,
  data: object | ((tell: Tell) => void),
  path: EventTarget[],
  url: string,
  timestamp: Date,
][] = []
/** Encoded, one event's JSON each, not yet sent. */
export let lines: string[] = []

/** Where refused events wait in storage. */
const parked = `footfall_${pixelId}`

/** Notes without haste: what else is noted, or the page's leaving, takes it along. */
export const keep = <T extends EventType>(
  type: T,
  data: NotedData<T> | ((tell: Tell) => void),
  path: EventTarget[] = [],
): void => {
  if (level) noted.push([type, data, path, document.URL, new Date()])
}

/**
 * All a listener does: its time and place are kept, and the work is left for later. Nothing is told of what happened
 * on a path that asks for silence.
 */
export const note: typeof keep = (type, data, path) => {
  keep(type, data, path)
  schedule()
}

/** Browsers let 64 KiB leave a page that closes; the envelope takes some hundred bytes of them. */
const bytesMax = 64_000

export const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)

/** Events of one page differ in the last digits of their ids. */
let firstId: string
let count = 0x1000

/** Encodes what was noted. */
export const encode = (): void => {
  restReactions()
  for (const [type, data, path, url, timestamp] of noted.splice(0)) {
    const tell: Tell = (event_type, told) => {
      firstId = firstId || uuid()
      const event_id = firstId.slice(0, -4) + (count++).toString(16)
      const event = { event_id, event_type, event_data: { url, ...told, timestamp } }
      const line = JSON.stringify(event).replace(secrets, '$1')
      if (bytesOf(line).length < bytesMax && lines.length < 500) lines.push(line)
    }
    attempt(() => {
      if (find(path, ignored)) return
      if (typeof data === 'function') data(tell)
      else tell(type, data as NotedData<typeof type>)
    })
  }
}

/** Takes back what an earlier page, or this one, parked. */
export const unpark = (): void => {
  attempt(() => {
    if (level < 3) return
    lines.unshift(...localStorage[parked].split('\n'))
    forgetParked()
  })
}

/** The next body's worth of events. */
export const take = (): string[] => {
  const batch: string[] = []
  let room = bytesMax
  do {
    room -= bytesOf(lines[0]!).length
    batch.push(lines.shift()!)
  } while (lines[0] && bytesOf(lines[0]).length < room)
  return batch
}

/** Refused: the batch waits again, in storage where that may be used, for it may be the next page that sends it. */
export const putBack = (batch: string[]): void => {
  lines.unshift(...batch)
  attempt(() => {
    if (level < 3 || !lines[0]) return
    localStorage[parked] = lines.join('\n')
    lines = []
  })
}

export const forgetParked = (): void => {
  attempt(() => delete localStorage[parked])
}

export const dropAll = (): void => {
  noted = []
  lines = []
}
