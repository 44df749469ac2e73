import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { isUuid } from '../../../schemas/uuid.ts'
import { malformed } from '../../api/http/errors.ts'
import { isObject } from '../../platform/json.ts'
import { markLongIntegers } from '../normalize/exactNumbers.ts'
import { type Person, personOf } from '../normalize/normalize.ts'
import type { Data, Fault } from '../normalize/validateEvent.ts'

export const beaconEventsMax = 500
const timeCharsMax = 40

type BeaconHeader =
  | 'user-agent'
  | 'accept-language'
  | 'cookie'
  | 'origin'
  | 'referer'
  | 'sec-fetch-site'
  | 'sec-gpc'
  | 'dnt'
  | 'x-forwarded-for'
  | 'x-forwarded-proto'

/** The parts of a request that acceptBeacon needs; Fastify's requests have them. */
export interface BeaconRequest {
  headers: { [Name in BeaconHeader]?: IncomingHttpHeaders[Name] }
  /** The client's address, according to the last trusted proxy. */
  ip: string
  protocol: string
  log: { error(error: unknown, message: string): void }
}

/** A beacon with a valid envelope, whose events are not checked yet. */
export interface Envelope {
  pixel_id: string
  cookie_id?: string | undefined
  /** The person who owns the cookie. */
  person?: Person | undefined
  consent?: boolean | undefined
  events: unknown[]
  /** The events with the digits of integers beyond 2^53, if there are any (exactNumbers.ts). */
  exactEvents?: unknown[] | undefined
  /** Events that the parser of the body found invalid, by index. */
  faults?: ReadonlyMap<number, Fault> | undefined
  /** The visitor's data from a back end. Checked only with a key (clientInfo.ts). */
  client_ip?: unknown
  user_agent?: unknown
  sentAtMillis: number
}

/** Reads the body of `POST /e`. Throws 400 "malformed" that names the fault. */
export function parseBeacon(body: Buffer): Envelope {
  const { text, object: beacon } = readJsonObject(body)
  const { pixel_id, cookie_id, hem, consent, sent_at, events, client_ip, user_agent } = beacon
  if (!isUuid(pixel_id)) throw malformed('pixel_id must be a UUID.')
  if (cookie_id != null && !isUuid(cookie_id)) throw malformed('cookie_id must be a UUID or null.')
  const person = hem === undefined ? undefined : personOf(beacon)
  if (person && 'path' in person) throw malformed(`${person.path.slice(1)} ${person.message}.`)
  if (consent !== undefined && typeof consent !== 'boolean')
    throw malformed('consent must be true or false.')
  const sentAtMillis = millisOf(sent_at)
  if (Number.isNaN(sentAtMillis)) throw malformed('sent_at must be an ISO 8601 time.')
  if (!Array.isArray(events)) throw malformed('events must be an array.')
  if (events.length > beaconEventsMax)
    throw malformed(`events must hold at most ${beaconEventsMax} events.`)
  return {
    pixel_id: pixel_id.toLowerCase(),
    cookie_id: cookie_id ?? undefined,
    person,
    consent: cookie_id === null ? false : consent,
    events,
    exactEvents: exactEventsIn(text),
    client_ip,
    user_agent,
    sentAtMillis,
  }
}

/** The pixel sends epoch milliseconds, other senders ISO 8601. */
function millisOf(time: unknown): number {
  const isText = typeof time === 'string' && time.length <= timeCharsMax
  return isText || typeof time === 'number' ? new Date(time).getTime() : Number.NaN
}

function exactEventsIn(text: string): unknown[] | undefined {
  const marked = markLongIntegers(text)
  return marked === null ? undefined : (JSON.parse(marked) as { events: unknown[] }).events
}

/** Reads a body that must be a JSON object. Throws 400 "malformed". */
export function readJsonObject(body: Buffer): { text: string; object: Data } {
  if (!isUtf8(body)) throw malformed('The body is not valid UTF-8.')
  const text = body.toString()
  const object = parseJson(text)
  if (!isObject(object)) throw malformed('The body must be a JSON object.')
  return { text, object }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw malformed('The body is not valid JSON.')
  }
}
