import { Compile } from 'typebox/compile'
import { customPropertiesBytesMax } from '../../schemas/events/custom.ts'
import { type EventType, eventDataSchemas, eventTypes } from '../../schemas/events/index.ts'
import { isUuid } from '../../schemas/uuid.ts'

/** Oldest event taken, by its own time. Keeps the months, and so the partitions, of one insert few. */
export const eventAgeDaysMax = 366

/** An event that passed; the rest of the collector relies on these types. */
export interface ValidEvent {
  event_id: string
  event_type: EventType
  event_data: { url: string; timestamp: string; referrer?: string | null } & Record<string, unknown>
  /** event_data.timestamp in epoch milliseconds, as the sender's clock had it. */
  sentMillis: number
}

/** What is wrong with an event: a JSON pointer into it and words. */
export interface Fault {
  path: string
  message: string
}

const validators = new Map(Object.entries(eventDataSchemas).map(([type, schema]) => [type, Compile(schema)]))

/** Checks one element of a beacon's `events` against its type's schema (schemas/events). */
export function validateEvent(event: unknown): ValidEvent | Fault {
  if (!isObject(event)) return { path: '', message: 'must be an object' }
  const { event_id, event_type, event_data } = event
  if (!isUuid(event_id)) return { path: '/event_id', message: 'must be a uuid' }
  const validator = typeof event_type === 'string' ? validators.get(event_type) : undefined
  if (!validator) return { path: '/event_type', message: `must be one of ${eventTypes.join(', ')}` }
  if (!isObject(event_data)) return { path: '/event_data', message: 'must be an object' }

  if (!validator.Check(event_data)) {
    const [error] = validator.Errors(event_data)
    return { path: `/event_data${error!.instancePath}`, message: error!.message }
  }
  const sentMillis = Date.parse(event_data.timestamp as string)
  if (Number.isNaN(sentMillis))
    return { path: '/event_data/timestamp', message: 'must be a date that exists' }
  if (event_type === 'custom' && jsonBytes(event_data.properties) > customPropertiesBytesMax) {
    return {
      path: '/event_data/properties',
      message: `must take at most ${customPropertiesBytesMax} bytes of JSON`,
    }
  }
  return { event_id: event_id.toLowerCase(), event_type, event_data, sentMillis } as ValidEvent
}

/**
 * Looks for a `__proto__` key at any depth: harmless to us, but the rows are read by programs that may copy keys.
 * Returns its JSON pointer, or null.
 */
export function findProtoKey(value: unknown, path = ''): string | null {
  if (typeof value !== 'object' || value === null) return null
  for (const key of Object.keys(value)) {
    if (key === '__proto__') return `${path}/__proto__`
    const found = findProtoKey((value as Record<string, unknown>)[key], `${path}/${key}`)
    if (found !== null) return found
  }
  return null
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))
