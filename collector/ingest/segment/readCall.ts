import { isIP } from 'node:net'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { ApiError, malformed } from '../../api/http/errors.ts'
import { isObject } from '../../platform/json.ts'
import { type Envelope, readJsonObject } from '../beacon/beacon.ts'
import { markLongIntegers } from '../normalize/exactNumbers.ts'
import type { Data, Fault } from '../normalize/validateEvent.ts'
import { objectOf, textOf } from './members.ts'
import { cookieIdOf, type MessageType, mapMessage, type Sender } from './message.ts'

/** Segment's size limit of a batch. */
export const callBytesMax = 500 * 1024
export const callMessagesMax = 2_500

/** The messages of one visitor, as one beacon. */
interface VisitorBeacon {
  envelope: Envelope
  /** The language of the visitor, if the messages contain it. */
  locale: string | undefined
  /** The index of each event in the call. */
  places: number[]
}

export interface Call {
  writeKey: unknown
  messages: unknown[]
  /** The messages with long integers as marked texts, if there are any. */
  exactMessages: unknown[] | undefined
  sentAtMillis: number
}

const unzip = promisify(gunzip)

/** Decompresses a body with gzip. Throws 413 "too_large", 400 "malformed" and 415. */
export async function unpack(body: Buffer, encoding: string | undefined): Promise<Buffer> {
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return body
  if (encoding.toLowerCase() !== 'gzip')
    throw new ApiError(
      415,
      'unsupported_media_type',
      'Content-Encoding must be gzip or identity.',
      { headers: { 'accept-encoding': 'gzip, identity' } },
    )
  try {
    return await unzip(body, { maxOutputLength: callBytesMax })
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE')
      throw new ApiError(413, 'too_large', `The body must have at most ${callBytesMax} bytes.`)
    throw malformed('The body is not valid gzip.')
  }
}

/** Reads the body of `batch`, or of a call with one message. Throws 400 "malformed". */
export function readCall(body: Buffer, type: MessageType | 'batch'): Call {
  const { text, object } = readJsonObject(body)
  const marked = markLongIntegers(text)
  const exact = marked === null ? undefined : (JSON.parse(marked) as Data)
  const messagesIn = (from: Data): unknown[] => {
    if (type === 'batch') return from.batch as unknown[]
    const { writeKey: _, ...message } = from
    return [{ ...message, type }]
  }
  const { writeKey, batch, sentAt } = object
  if (type === 'batch' && !Array.isArray(batch)) throw malformed('batch must be an array.')
  const messages = messagesIn(object)
  if (messages.length > callMessagesMax)
    throw malformed(`batch must have at most ${callMessagesMax} messages (got ${messages.length}).`)
  return {
    writeKey,
    messages,
    exactMessages: exact && messagesIn(exact),
    sentAtMillis: Date.parse(textOf(sentAt) ?? '') || Date.now(),
  }
}

/** Groups the messages of a call by visitor, because a beacon has the events of one visitor. */
export function beaconsOf(sender: Sender, call: Call): VisitorBeacon[] {
  const { pixelId } = sender.pixel
  const { messages, exactMessages, sentAtMillis } = call
  const beacons = new Map<string, VisitorBeacon & { faults: Map<number, Fault> }>()
  for (const [place, sent] of messages.entries()) {
    const message = objectOf(sent)
    const context = objectOf(message.context)
    const visitor = {
      cookie_id: cookieIdOf(sender, message),
      client_ip: isIP(textOf(context.ip) ?? '') ? context.ip : undefined,
      user_agent: textOf(context.userAgent),
      consent: consentOf(context),
    }
    const locale = textOf(context.locale)
    const key = JSON.stringify([visitor, locale])
    let beacon = beacons.get(key)
    if (!beacon) {
      const faults = new Map<number, Fault>()
      const events = { events: [], exactEvents: exactMessages && [], faults }
      const envelope: Envelope = { pixel_id: pixelId, ...visitor, ...events, sentAtMillis }
      beacon = { envelope, locale, places: [], faults }
      beacons.set(key, beacon)
    }
    const { envelope, places, faults } = beacon
    const exact = objectOf(exactMessages?.[place] ?? message)
    const mapped = isObject(sent)
      ? mapMessage({ sender, message, exact, sentAtMillis })
      : { path: '', message: 'must be an object' }
    if ('path' in mapped) faults.set(places.length, mapped)
    envelope.events.push('path' in mapped ? withoutPerson(message) : mapped.event)
    envelope.exactEvents?.push('path' in mapped ? null : mapped.exactEvent)
    places.push(place)
  }
  return [...beacons.values()]
}

/** Returns how many events of a call may be stored: all messages except invalid ones and those that only identify. */
export const storableEvents = (beacons: readonly VisitorBeacon[]): number =>
  beacons.reduce(
    (sum, { envelope: { events, faults } }) =>
      sum +
      events.filter((event, at) => !faults?.has(at) && (event as Data).type !== 'identify').length,
    0,
  )

/** Returns a message for rejected events, without traits and context, which identify a person. */
function withoutPerson({ traits: _, context: _context, ...message }: Data): Data {
  return message
}

/** Denied if any category of Segment's preferences is; undefined if the message has none. */
function consentOf({ consent }: Data): boolean | undefined {
  const { categoryPreferences } = objectOf(consent)
  const answers = Object.values(objectOf(categoryPreferences))
  return answers.length === 0 ? undefined : answers.every((answer) => answer === true)
}
