import { randomUUID } from 'node:crypto'
import { textLengthMax } from '../../../schemas/events/common.ts'
import { isUuid } from '../../../schemas/uuid.ts'
import { dayExists } from '../../platform/days.ts'
import { hemOf, isEmail } from '../../platform/hem.ts'
import { isObject } from '../../platform/json.ts'
import { secretUuidOf } from '../../platform/uuidOfDigest.ts'
import type { Pixel } from '../beacon/pixelRegistry.ts'
import { cut, isText, numberOf } from '../normalize/text.ts'
import { type Data, type Fault, findBadShape } from '../normalize/validateEvent.ts'
import { objectOf, pageOf, textOf } from './members.ts'

/** The calls of Segment's API that send one message. */
export const messageTypes = ['track', 'page', 'screen', 'identify', 'group', 'alias'] as const
export type MessageType = (typeof messageTypes)[number]

/** Segment's size limit of one message. */
export const messageBytesMax = 32 * 1024
const eventNameCharsMax = 100
const timeCharsMax = 40
const idCharsMax = 1_000

/** A valid message, as a member of a beacon's `events`. */
interface MappedMessage {
  event: Data
  /** The event with the digits of long integers (normalize/exactNumbers.ts). */
  exactEvent: Data
}

/** Who sends a message: the pixel that its write key names, and whether the write key has a valid API key. */
export interface Sender {
  pixel: Pixel
  isVerifiedBackend: boolean
}

interface Reading {
  sender: Sender
  message: Data
  /** The message with its long integers as marked texts; the message itself if it has none. */
  exact: Data
  /** Time of messages without their own time. */
  sentAtMillis: number
}

/**
 * Maps a message of Segment's API to an event. `track` and `group` become custom events, `page` a page view,
 * and `screen` the custom event `screen`. `identify` and `alias` become the link between visitor and hem.
 */
export function mapMessage(reading: Reading): MappedMessage | Fault {
  const { sender, message, exact } = reading
  const badShape = findBadShape(message)
  if (badShape) return badShape
  const { type, anonymousId, userId, messageId } = message
  if (!isMessageType(type))
    return { path: '/type', message: `must be one of ${messageTypes.join(', ')}` }
  if (Buffer.byteLength(JSON.stringify(message)) > messageBytesMax)
    return { path: '', message: `must be at most ${messageBytesMax} bytes of JSON` }
  if (idTextOf(anonymousId) === undefined && idTextOf(userId) === undefined)
    return { path: '/anonymousId', message: 'is required, unless userId is given' }
  const timestamp = timestampOf(reading)
  if (timestamp === undefined) return { path: '/timestamp', message: 'must be an ISO 8601 time' }
  if (type === 'identify' || type === 'alias') {
    const event = identifyEvent(message)
    return { event, exactEvent: event }
  }
  const fault = faultOf(type, message)
  if (fault) return fault
  const id = idTextOf(messageId)
  const event_id =
    id === undefined ? randomUUID() : (uuidIn(id) ?? secretIdOf(sender, 'message', id))
  const eventOf = (from: Data): Data => ({ event_id, ...makers[type](from, timestamp) })
  return { event: eventOf(message), exactEvent: eventOf(exact) }
}

/** Returns the cookie_id of a message: its anonymousId if that is a UUID, or an id derived from its anonymousId or userId. */
export function cookieIdOf(sender: Sender, { anonymousId, userId }: Data): string | undefined {
  const anonymous = idTextOf(anonymousId)
  if (anonymous !== undefined)
    return uuidIn(anonymous) ?? secretIdOf(sender, 'anonymous', anonymous)
  const user = idTextOf(userId)
  return user === undefined ? undefined : secretIdOf(sender, 'user', user)
}

const uuidIn = (text: string): string | undefined => (isUuid(text) ? text.toLowerCase() : undefined)

/**
 * Returns a UUID that is always the same for a text, this pixel and this kind of sender. So a visitor who guesses a
 * customer's userId cannot act as the visitor of the back end. Nor can a guessed messageId, such as an order number, use up
 * the id of the event that a back end sends.
 */
const secretIdOf = (
  { pixel, isVerifiedBackend }: Sender,
  kind: 'anonymous' | 'user' | 'message',
  text: string,
): string =>
  secretUuidOf(pixel.eventIdKey, `${isVerifiedBackend ? 'verified' : 'visitor'}\n${kind}\n${text}`)

function idTextOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return isText(value) && value !== '' ? value.slice(0, idCharsMax) : undefined
}

const isMessageType = (type: unknown): type is MessageType =>
  messageTypes.includes(type as MessageType)

/** When the event happened. Segment computes `timestamp` from `originalTimestamp`. */
function timestampOf({
  message: { originalTimestamp, timestamp = null },
  sentAtMillis,
}: Reading): string | undefined {
  const given = originalTimestamp ?? timestamp ?? new Date(sentAtMillis).toISOString()
  const text = isText(given) && given.length <= timeCharsMax ? given : ''
  const [day] = /^\d{4}-\d\d-\d\d/.exec(text) ?? []
  const millis = Date.parse(text)
  return Number.isNaN(millis) || (day && !dayExists(day))
    ? undefined
    : new Date(millis).toISOString()
}

function faultOf(type: MessageType, { event, properties, traits }: Data): Fault | undefined {
  if (type === 'track' && !(isText(event) && event !== '' && event.length <= eventNameCharsMax))
    return { path: '/event', message: `must be a string of 1 to ${eventNameCharsMax} characters` }
  if (type === 'group')
    return isAbsentOrObject(traits) ? undefined : { path: '/traits', message: 'must be an object' }
  if (!isAbsentOrObject(properties)) return { path: '/properties', message: 'must be an object' }
}

const isAbsentOrObject = (value: unknown): boolean => value == null || isObject(value)

type Make = (message: Data, timestamp: string) => { event_type: string; event_data: Data }

const makers: Record<Exclude<MessageType, 'identify' | 'alias'>, Make> = {
  track: (message, timestamp) =>
    custom(message, timestamp, message.event, objectOf(message.properties)),

  group: (message, timestamp) => {
    const { groupId, traits } = message
    return custom(message, timestamp, 'group', { ...objectOf(traits), group_id: groupId })
  },

  // A screen has no URL, so figures of pages would not contain it.
  screen: (message, timestamp) => {
    const { name, category, properties } = message
    const named = withoutAbsent({ name, category })
    return custom(message, timestamp, 'screen', { ...objectOf(properties), ...named })
  },

  page: (message, timestamp) => {
    const { context, name, category } = message
    const { screen } = objectOf(context)
    const {
      url: _,
      title,
      referrer,
      path: _path,
      search: _search,
      ...more
    } = objectOf(message.properties)
    const page = pageOf(message)
    const { width, height, innerWidth, innerHeight } = objectOf(screen)
    const properties = withoutAbsent({ name, category, ...more })
    return {
      event_type: 'page_view',
      event_data: {
        url: pageUrlOf(message),
        title: cut(title ?? page.title ?? '', textLengthMax) ?? '',
        referrer: textOf(referrer) ?? textOf(page.referrer) ?? null,
        screen: sizeOf(width, height),
        viewport: sizeOf(innerWidth, innerHeight),
        ...(Object.keys(properties).length > 0 && { properties }),
        ...library(message),
        timestamp,
      },
    }
  },
}

function custom(message: Data, timestamp: string, name: unknown, properties: Data) {
  const referrer = textOf(pageOf(message).referrer)
  return {
    event_type: 'custom',
    event_data: {
      url: pageUrlOf(message),
      name,
      properties,
      ...(referrer !== undefined && { referrer }),
      ...library(message),
      timestamp,
    },
  }
}

/** Without an e-mail address or a hem it creates no link. */
function identifyEvent(message: Data): Data {
  const { hem, hem_signature, email } = {
    ...objectOf(objectOf(message.context).traits),
    ...objectOf(message.traits),
  } as Data
  const address = isText(email) && isEmail(email.trim()) ? hemOf(email) : undefined
  return withoutAbsent({
    type: 'identify',
    url: pageUrlOf(message),
    hem: hem ?? address,
    hem_signature,
  })
}

function library({ context }: Data): { library?: Data } {
  const { name, version } = objectOf(objectOf(context).library)
  return isText(name) ? { library: { name, version } } : {}
}

const sizeOf = (width: unknown, height: unknown) => ({
  height: numberOf(height) || 0,
  width: numberOf(width) || 0,
})

const withoutAbsent = (data: Data): Data =>
  Object.fromEntries(Object.entries(data).filter(([, value]) => value != null))

/** Members of `context.campaign`, and the query parameters for marketing fields. */
const campaignParameters = {
  source: 'utm_source',
  medium: 'utm_medium',
  name: 'utm_campaign',
  term: 'utm_term',
  content: 'utm_content',
} as const

/**
 * Returns the URL of a message: of its page, or `app:` with the name of the app or library, because servers
 * have no page. The campaign of the context becomes its query parameters, unless it has some.
 */
function pageUrlOf(message: Data): string {
  const { app, library, campaign } = objectOf(message.context)
  const { namespace, name } = objectOf(app)
  const source = textOf(namespace) ?? textOf(name) ?? textOf(objectOf(library).name) ?? 'unknown'
  const sent =
    (message.type === 'page' ? textOf(objectOf(message.properties).url) : undefined) ??
    textOf(pageOf(message).url)
  return withCampaign(sent ?? `app:${source}`, objectOf(campaign))
}

function withCampaign(url: string, campaign: Data): string {
  if (url.includes('utm_')) return url
  const query = new URLSearchParams()
  for (const [member, parameter] of Object.entries(campaignParameters)) {
    const value = textOf(campaign[member])
    if (value !== undefined) query.set(parameter, value)
  }
  if (query.size === 0) return url
  const [address = '', ...fragment] = url.split('#')
  const separator = address.includes('?') ? '&' : '?'
  return [`${address}${separator}${query}`, ...fragment].join('#')
}
