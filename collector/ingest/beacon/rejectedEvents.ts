import type { FastifyRequest } from 'fastify'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { RejectedEvent } from '../../../schemas/beacon.ts'
import { eventPaths } from '../../../schemas/eventPaths.ts'
import { isIgnoreSetting } from '../../../schemas/ignored.ts'
import { isUuid } from '../../../schemas/uuid.ts'
import { ApiError } from '../../api/http/errors.ts'
import { isObject } from '../../platform/json.ts'
import type { WarnLog } from '../../platform/log.ts'
import { refusedBeacons, rejectedEvents } from '../../platform/metrics.ts'
import type { EventLog } from '../log/eventLog.ts'
import type { BeaconContext } from '../normalize/eventRow.ts'
import { unmarkLongIntegers } from '../normalize/exactNumbers.ts'
import type { Fault } from '../normalize/validateEvent.ts'
import type { PixelEvents } from './ingestLimits.ts'
import type { Pixel, PixelRegistry } from './pixelRegistry.ts'

const rejectedEventCharsMax = 4096

export const rejectedEntry = (
  index: number,
  event: unknown,
  fault: Fault,
  code: RejectedEvent['code'] = 'invalid_event',
): RejectedEvent => ({
  index,
  code,
  event_id: textMember(event, 'event_id'),
  ...fault,
})

export const countRejected = (fault: Fault): void => rejectedEvents.inc({ part: partOf(fault) })

/** Returns a line for the `rejected_events` table. */
export function rejectedRow(event: unknown, fault: Fault, context: BeaconContext): string {
  return JSON.stringify({
    received_at: new Date(context.receivedMillis).toISOString(),
    organization_id: context.organizationId,
    project_id: context.projectId,
    pixel_id: context.pixelId,
    cookie_id: context.cookieId,
    event_id: textMember(event, 'event_id'),
    event_type: textMember(event, 'event_type') ?? textMember(event, 'type'),
    path: fault.path.toWellFormed(),
    message: fault.message.toWellFormed(),
    event: jsonOf(event).slice(0, rejectedEventCharsMax).toWellFormed(),
  })
}

/** Returns the JSON of an event; a too deep event cannot be encoded, and gets a placeholder. */
function jsonOf(event: unknown): string {
  try {
    return unmarkLongIntegers(JSON.stringify(event))
  } catch {
    return '"too deep to be shown"'
  }
}

/**
 * Returns the faulty part of an event, a label of a metric: "event_type", "event_data/timestamp", …; never a sender's own
 * name.
 */
function partOf({ path }: Fault): string {
  if (path.endsWith('/__proto__')) return '__proto__'
  const [part = '', member] = path.split('/', 3).slice(1)
  return [`${part}/${member}`, part].find((known) => eventPaths.has(`/${known}`)) ?? 'event'
}

function textMember(event: unknown, key: 'event_id' | 'event_type' | 'type'): string | null {
  const value = isObject(event) ? event[key] : undefined
  return typeof value === 'string' ? value.slice(0, 100).toWellFormed() : null
}

/** The errors of a complete beacon that its pixel's owner can fix. */
const recordedErrors = ['origin not allowed', 'pixel inactive', 'malformed']
/** Limit in each worker, for each pixel and reason: enough to see the cause, at any load. */
const recordedPerMinute = 6

/** Limit in each worker, for each pixel. */
const keylessPerMinute = 60

export type StoreRejected = (sender: PixelEvents, rows: readonly string[]) => Promise<void>

/**
 * Stores all rejected events of back ends with a key, and a limited number of others. Otherwise a stranger fills the list of
 * rejected events, and the owner pays for reading it.
 */
export function createStoreRejected(rejectedLog: EventLog): StoreRejected {
  const budget = new RateLimiterMemory({ points: keylessPerMinute, duration: 60 })
  const roomFor = async ({ pixelId, isVerifiedBackend }: PixelEvents, rows: number) => {
    if (isVerifiedBackend) return rows
    const { consumedPoints } = await budget.penalty(pixelId, rows)
    return Math.max(0, keylessPerMinute - (consumedPoints - rows))
  }
  return async (sender, rows) => {
    const stored = rows.slice(0, await roomFor(sender, rows.length))
    if (stored.length > 0) await rejectedLog.append(stored)
  }
}

const noCookie = '00000000-0000-0000-0000-000000000000'

/**
 * Records why a beacon, or a part of it, was not stored; never rejects. `refusal` is the error of a refused beacon, or
 * the setting of the project that ignored events.
 */
export type RecordRefusal = (pixel: Pixel, refusal: string, message: string) => Promise<void>

/**
 * Records refusals in `rejected_events`, a few a minute of each kind for each pixel, without the content of
 * the beacons: their visitors did not consent. Ignored events are recorded once a minute, because they can
 * arrive all day and are no fault. A refused beacon is also logged, with the origin but without what its visitor sent.
 */
export function createRecordRefusal(rejectedLog: EventLog, log: WarnLog): RecordRefusal {
  const budget = new RateLimiterMemory({ points: recordedPerMinute, duration: 60 })
  return async (pixel, refusal, message) => {
    try {
      const cost = isIgnoreSetting(refusal) ? recordedPerMinute : 1
      await budget.consume(`${pixel.pixelId} ${refusal}`, cost)
      if (recordedErrors.includes(refusal))
        log.warn(
          { pixel_id: pixel.pixelId, refusal },
          refusal === 'malformed' ? 'a beacon is malformed' : message,
        )
      await rejectedLog.append([refusalRow(pixel, refusal, message)])
    } catch {
      // The limit is reached, or the log is unavailable; the response contains the reason.
    }
  }
}

export function createNoteRefusal(pixels: PixelRegistry, recordRefusal: RecordRefusal) {
  return async (error: unknown, pixelId: string | undefined): Promise<void> => {
    refusedBeacons.inc({ error: error instanceof ApiError ? error.error : 'internal_error' })
    if (!(error instanceof ApiError) || !recordedErrors.includes(error.error)) return
    const pixel = pixels.get(pixelId ?? '')
    if (pixel) await recordRefusal(pixel, error.error, error.message)
  }
}

const pixelIdMember = /"pixel_id"\s*:\s*"([\da-f-]{36})"/i

/** Returns the pixel that a request names, even if the rest of its body is invalid. */
export function pixelIdIn({ body, query }: FastifyRequest): string | undefined {
  const pixelId = Buffer.isBuffer(body)
    ? pixelIdMember.exec(body.toString('latin1'))?.[1]
    : (query as { pixel_id?: unknown }).pixel_id
  return isUuid(pixelId) ? pixelId.toLowerCase() : undefined
}

const refusalRow = (pixel: Pixel, refusal: string, message: string): string =>
  JSON.stringify({
    received_at: new Date().toISOString(),
    organization_id: pixel.organizationId,
    project_id: pixel.projectId,
    pixel_id: pixel.pixelId,
    cookie_id: noCookie,
    event_id: null,
    event_type: null,
    refusal,
    path: '',
    message: message.slice(0, 500).toWellFormed(),
    event: '',
  })
