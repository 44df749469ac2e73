import type { BeaconEvent } from '../../schemas/beacon.ts'
import type { EventData, EventType } from '../../schemas/events/index.ts'
import { isOff } from './consent.ts'
import { safely } from './guard.ts'
import { park, unpark } from './parked.ts'
import { schedule } from './send.ts'
import { uuid } from './uuid.ts'

/** Browsers let 64 KiB leave a page that closes; the envelope takes some three hundred bytes of them. */
const bytesMax = 65_000

/** Captured, at most 500, not yet encoded: event_data's getters and its Date become text when it is. */
let captured: Omit<BeaconEvent, 'event_id'>[] = []
/** Encoded, one event's JSON each, not yet sent. */
let lines: string[] = []

const bytesOf = (text: string) => new Blob([text]).size

type Own<D> = D extends unknown ? Omit<D, 'url' | 'timestamp'> : never

/** All a listener does: note what happened, with its time and place, and leave the rest for later. */
export const capture = <T extends EventType, D extends Own<EventData<T>>>(event_type: T, own: D): void => {
  if (isOff() || captured.length > 500) return
  const event_data = own as unknown as EventData<T>
  event_data.url ||= location.href.slice(0, 8192)
  event_data.timestamp = new Date() as unknown as string
  captured.push({ event_type, event_data })
  // A page view waits for the scroll depth that its first screen already shows: one request, not two.
  const pageViewMs = 1700
  if (event_type === 'page_view') setTimeout(schedule, pageViewMs)
  else schedule()
}

/** Encodes what was captured and fetches what was parked. How many events now wait? */
export const gather = (): number => {
  lines.unshift(...unpark())
  for (const event of captured.splice(0)) {
    const line = safely(JSON.stringify)({ event_id: uuid(), ...event })
    if (line && bytesOf(line) < bytesMax) lines.push(line)
  }
  lines = lines.slice(-500)
  return lines.length
}

/** The next body's worth of events. */
export const take = (): string[] => {
  let bytes = 0
  const rest = lines.findIndex((line) => {
    bytes += bytesOf(line) + 1
    return bytes > bytesMax
  })
  return lines.splice(0, rest < 0 ? lines.length : rest)
}

/** Refused: the batch waits again, in storage where possible, for it may be the next page that sends it. */
export const putBack = (batch: string[]): void => {
  lines.unshift(...batch)
  if (park(lines)) lines = []
}

export const dropAll = (): void => {
  captured = []
  lines = []
}
