import { randomBytes } from 'node:crypto'

/**
 * A new event id in the collector's form for an event captured at a time: a UUID of version 8 that contains
 * it.
 */
export function newEventId(at = Date.now()): string {
  const time = at.toString(16).padStart(12, '0')
  const bits = randomBytes(9).toString('hex')
  return `${time.slice(0, 8)}-${time.slice(8)}-8${bits.slice(0, 3)}-8${bits.slice(3, 6)}-${bits.slice(6)}`
}
