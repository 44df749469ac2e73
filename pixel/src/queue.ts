import type { EventType } from '../../schemas/events/index.ts'
import type { NotedData } from '../../schemas/noted.ts'
import { pixelId, secrets } from './config.ts'
import { level } from './consent.ts'
import { attempt } from './guard.ts'
import { uuid } from './identity.ts'
import { restReactions } from './reaction.ts'
import { isLeaving, schedule } from './send.ts'

/** Noted, not yet encoded: getters of their data are read when they are. */
let noted: [EventType, object, url: string, timestamp: Date][] = []
/** Encoded, one event's JSON each, not yet sent. */
export let lines: string[] = []

/** Where refused events wait in storage. */
const parked = `footfall_${pixelId}`

/** All a listener does: say what happened; its time and place are kept, and the rest is left for later. */
export const note = <T extends EventType>(type: T, data: NotedData<T>): void => {
  if (level) noted.push([type, data, location.href, new Date()])
  // A page view waits for the scroll depth that its first screen already shows: one request, not two.
  if (type === 'page_view') setTimeout(schedule, 1500)
  else schedule()
}

/** Browsers let 64 KiB leave a page that closes; the envelope takes some hundred bytes of them. */
const fits = (...parts: string[]) => new Blob(parts).size < 64_000

/** Events of one page differ in the last digits of their ids. */
const firstId = uuid()
let count = 0x1000

/** Encodes what was noted, after what an earlier page parked. */
export const gather = (): void => {
  restReactions()
  attempt(() => {
    // What a leaving page parks is the next page's to send.
    if (level < 3 || isLeaving) return
    lines.push(...localStorage[parked].split('\n'))
    forgetParked()
  })
  for (const [event_type, data, url, timestamp] of noted.splice(0)) {
    attempt(() => {
      const event_id = firstId.slice(0, -4) + (count++).toString(16)
      const event = { event_id, event_type, event_data: { url, ...data, timestamp } }
      const line = JSON.stringify(event).replace(secrets, '$1')
      if (fits(line) && lines.length < 500) lines.push(line)
    })
  }
}

/** The next body's worth of events. */
export const take = (): string[] => {
  const batch: string[] = []
  do batch.push(lines.shift()!)
  while (lines[0] && fits(...batch, lines[0]))
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
