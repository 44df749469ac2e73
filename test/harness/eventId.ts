import { randomBytes } from 'node:crypto'

/** A new id of an event as the collector makes them of what a pixel captured at a time: a uuid of version 8 that holds it. */
export function newEventId(at = Date.now()): string {
  const time = at.toString(16).padStart(12, '0')
  const bits = randomBytes(9).toString('hex')
  return `${time.slice(0, 8)}-${time.slice(8)}-8${bits.slice(0, 3)}-8${bits.slice(3, 6)}-${bits.slice(6)}`
}
