import { Compile } from 'typebox/compile'
import { customPropertiesBytesMax } from '../../../schemas/events/custom.ts'
import { type EventType, eventDataSchemas, eventTypes } from '../../../schemas/events/index.ts'
import { isUuid } from '../../../schemas/uuid.ts'
import { allowedBy } from '../../api/http/faultWords.ts'
import { dayExists } from '../../platform/days.ts'
import { isObject } from '../../platform/json.ts'
import { unmarkLongIntegers } from './exactNumbers.ts'

/** Maximum age of an event of a sender with an API key, by its own time. It limits the months, and so the partitions, of one insert. */
export const eventAgeDaysMax = 366

/** A valid event; the rest of the collector relies on these types. */
export interface ValidEvent {
  event_id: string
  event_type: EventType
  event_data: { url: string; timestamp: string } & Record<string, unknown>
  /** event_data.timestamp in epoch milliseconds, by the sender's clock. */
  sentMillis: number
}

/** A fault of an event: a JSON pointer into it and a message. */
export interface Fault {
  path: string
  message: string
}

const validators = new Map(
  Object.entries(eventDataSchemas).map(([type, schema]) => [type, Compile(schema)]),
)

const pathCharsMax = 1_000
const timestampPath = '/event_data/timestamp'
const timestampFault = 'must be a UTC time with milliseconds, such as 2026-01-31T12:00:00.000Z'

/** Checks one element of a beacon's `events` against its type's schema (schemas/events). */
export function validateEvent(event: unknown): ValidEvent | Fault {
  if (!isObject(event)) return { path: '', message: 'must be an object' }
  const { event_id, event_type, event_data } = event
  if (!isUuid(event_id)) return { path: '/event_id', message: 'must be a UUID' }
  const validator = typeof event_type === 'string' ? validators.get(event_type) : undefined
  if (!validator) return { path: '/event_type', message: `must be one of ${eventTypes.join(', ')}` }
  if (!isObject(event_data)) return { path: '/event_data', message: 'must be an object' }

  if (!validator.Check(event_data)) {
    const faults = validator.Errors(event_data)
    const path = `/event_data${faults[0]!.instancePath}`.slice(0, pathCharsMax)
    const isTime = path === timestampPath && faults[0]!.keyword === 'pattern'
    return { path, message: isTime ? timestampFault : allowedBy(faults) }
  }
  const sentMillis = Date.parse(event_data.timestamp as string)
  if (Number.isNaN(sentMillis) || !dayExists(String(event_data.timestamp).slice(0, 10)))
    return { path: timestampPath, message: 'must be a date that exists' }
  if (event_type === 'custom' && jsonBytes(event_data.properties) > customPropertiesBytesMax) {
    return {
      path: '/event_data/properties',
      message: `must be at most ${customPropertiesBytesMax} bytes of JSON`,
    }
  }
  return { event_id: event_id.toLowerCase(), event_type, event_data, sentMillis } as ValidEvent
}

/** Maximum depth of an event's objects and arrays, and maximum number of their members and elements. */
const depthMax = 32
const membersMax = 5_000

/**
 * Finds a fault in the shape of an event, regardless of its content. Later code requires that an event is
 * neither deep nor wide. A `__proto__` key is harmless here, but programs that read rows may copy keys. A
 * number such as 1e999, which JavaScript reads as infinite, would be stored as null. Returns null without a
 * fault.
 */
export function findBadShape(value: unknown): Fault | null {
  let members = 0
  const search = (part: unknown, path: string, depth: number): Fault | null => {
    if (typeof part !== 'object' || part === null) return null
    if (depth > depthMax) return { path, message: `must be at most ${depthMax} levels deep` }
    const keys = Object.keys(part)
    members += keys.length
    if (members > membersMax)
      return { path, message: `must have at most ${membersMax} members in all` }
    for (const key of keys) {
      const member = (part as Record<string, unknown>)[key]
      const isInfinite = member === Infinity || member === -Infinity
      if (key !== '__proto__' && !isInfinite && (typeof member !== 'object' || member === null))
        continue
      const memberPath = `${path}/${key.slice(0, keyCharsShown)}`
      if (isInfinite) return { path: memberPath, message: 'must be a number below 1.8e308' }
      if (key === '__proto__') return { path: memberPath, message: 'must not be a field name' }
      const fault = search(member, memberPath, depth + 1)
      if (fault) return fault
    }
    return null
  }
  return search(value, '', 0)
}

const keyCharsShown = 100

const jsonBytes = (value: unknown): number =>
  Buffer.byteLength(unmarkLongIntegers(JSON.stringify(value)))

/** Event data from a page, whose members are not checked yet. */
export type Data = Record<string, unknown>
