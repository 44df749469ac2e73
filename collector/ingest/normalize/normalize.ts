import type { PixelSettings } from '../../../schemas/beacon.ts'
import { type CapturedType, type Description, eventTypeOf } from '../../../schemas/captured.ts'
import { type EventType, eventNumbers } from '../../../schemas/events/index.ts'
import { isObject } from '../../platform/json.ts'
import {
  identifierOf,
  isInLink,
  judgedFrom,
  nearStepsOf,
  normalizeClick,
  normalizeDownload,
  normalizeForm,
  normalizeMarked,
  stepsOf,
  urlOf,
} from './elements.ts'
import { searchOfForm, searchOfPage } from './search.ts'
import { stripSecrets, stripUrlSecrets, withoutSecrets } from './secrets.ts'
import { clean, cut, isText, numberOf } from './text.ts'
import type { Data, Fault } from './validateEvent.ts'

export interface NormalizedEvent {
  event_id: unknown
  event_type: unknown
  event_data: unknown
  /** Referrer of the event's page, if event_data does not contain it. */
  referrer?: string | undefined
}

/** The result of one member of a beacon's `events`. */
export interface NormalizedMember {
  /** The event itself; absent for valid members without an event: an identify, the sound of audio. */
  own?: NormalizedEvent
  derived: NormalizedEvent[]
  person?: Person
}

/**
 * Returns the events of one member of a beacon's `events`, or the fault of an incomplete one. A complete
 * event stays as it is, without the secrets in its URLs. A captured one (schemas/captured.ts) becomes its
 * event and those derived from it. These are a search from a page view or a form, and a download or a marked
 * element's own event from a click. The schemas validate them later.
 */
export function normalize(event: unknown, settings: PixelSettings): NormalizedMember | Fault {
  if (!isObject(event)) return { path: '', message: 'must be an object' }
  if (isComplete(event)) return complete(event, settings)
  const { type, id, referrer, event_type: _none, ...captured } = event
  if (typeof type !== 'string' || !isCapturedType(type))
    return { path: '/type', message: `must be one of ${Object.keys(eventTypeOf).join(', ')}` }
  if (type === 'identify') return normalizeIdentify(captured)

  // A URL that is too long is truncated, because the event is more important than the end of its URL.
  const url = urlOf(captured.url) ?? captured.url
  const at = timestampOf(captured.at)
  const parts = makers[type]({ ...captured, referrer, url }, settings, type)
  const ownType = eventTypeOf[type]
  const events: NormalizedEvent[] = []
  for (const [event_type, data] of Object.entries(parts)) {
    if (!data && event_type === ownType) return missingContent[type]!
    if (!data) continue
    const event_data = stripSecrets({ url, ...data, timestamp: at }, settings)
    events.push({
      event_id: idOf(at, id, event_type),
      event_type,
      event_data,
      ...pageReferrer(referrer, settings),
    })
  }
  const own = events.find(({ event_type }) => event_type === ownType)
  return { ...(own && { own }), derived: events.filter((event) => event !== own) }
}

/** Whether an event was sent complete, instead of captured by the pixel. */
const isComplete = ({ event_type, type }: Data): boolean =>
  event_type !== undefined || type === undefined

/** Returns the unchecked URL of the event's page. */
export function pageOf(event: unknown): unknown {
  if (!isObject(event)) return undefined
  if (!isComplete(event)) return event.url
  return isObject(event.event_data) ? event.event_data.url : undefined
}

function complete(
  { event_id, event_type, event_data }: Data,
  settings: PixelSettings,
): NormalizedMember {
  if (isObject(event_data)) {
    stripUrlSecrets(event_data, settings)
    // As `document.referrer` says that there is none.
    if (event_type === 'page_view' && event_data.referrer === '') event_data.referrer = null
  }
  return { own: { event_id, event_type, event_data }, derived: [] }
}

/** Without consent the pixel omits the identity, which is not a fault. */
function normalizeIdentify(captured: Data): NormalizedMember | Fault {
  if (captured.hem === undefined) return { derived: [] }
  const person = personOf(captured)
  return 'path' in person ? person : { derived: [], person }
}

const pageReferrer = (referrer: unknown, settings: PixelSettings) =>
  isText(referrer) && referrer !== '' ? { referrer: withoutSecrets(referrer, settings) } : undefined

const noPlayer: Fault = { path: '/path', message: 'must contain the element that plays' }

const noElement: Fault = { path: '/path', message: 'must contain the clicked element' }

/** Required content, for types whose event may be missing. */
const missingContent: Partial<Record<CapturedType, Fault>> = {
  play: noPlayer,
  pause: noPlayer,
  timeupdate: noPlayer,
  ended: noPlayer,
  click: noElement,
  auxclick: noElement,
  rage: noElement,
  dead: noElement,
  submit: { path: '/form', message: 'must be the submitted form' },
  track: { path: '/name', message: 'must be a string of at least one character' },
}

const isCapturedType = (type: string): type is CapturedType => Object.hasOwn(eventTypeOf, type)

/**
 * The UUID (version 8) of a captured event. It has the event's time, 52 random bits of its page, and the
 * number of its type, because several events may come from one. It is the same for every send; undefined
 * without a number.
 */
function idOf(at: unknown, random: unknown, event_type: string): string | undefined {
  if (typeof random !== 'number' || !(random >= 0 && random < 1)) return
  const time = hex(Math.max(0, Date.parse(cut(at, timeCharsMax) ?? '') || 0), 12)
  const bits = hex(Math.floor(random * 2 ** 52), 13)
  const type = hex(eventNumbers[event_type as EventType], 2)
  const groups = [time.slice(0, 8), time.slice(8), `8${bits.slice(0, 3)}`, `8${bits.slice(3, 6)}`]
  return [...groups, `${bits.slice(6)}000${type}`].join('-')
}

const timeCharsMax = 40

/** The pixel sends milliseconds; old scripts in caches send ISO 8601. */
const timestampOf = (at: unknown): unknown =>
  typeof at === 'number' && Math.abs(at) <= latestTime ? new Date(at).toISOString() : at

/** The last time that a Date can represent. */
const latestTime = 8.64e15

const hex = (value: number, digits: number) =>
  value.toString(16).padStart(digits, '0').slice(-digits)

/** Creates an event's data from data that the pixel captured; undefined if the type creates none. */
type Make = (
  data: Data,
  settings: PixelSettings,
  type: string,
) => { [T in EventType]?: Data | undefined }

const click: Make = (data, settings) => ({
  click: normalizeClick(data, settings),
  download: normalizeDownload(data, settings),
  // A form's custom event is created when the form is submitted.
  custom: normalizeMarked(
    stepsOf(data.path).filter(({ tag }) => tag !== 'form'),
    data.properties,
  ),
})

const copy: Make = ({ text, textLength }, { text_length_max }) => ({
  copy: { text: cut(text, text_length_max), textLength },
})

const judged: Make = (data, settings, type) => ({ custom: judgedFrom(data, settings, type) })

const video: Make = (data, _settings, type) => {
  const steps = nearStepsOf(data.path ?? [data.element])
  if (!steps[0]) return { video: undefined }
  const video = videoFrom(data, steps, type)
  return video ? { video } : {}
}

const makers: Record<Exclude<CapturedType, 'identify'>, Make> = {
  page: (data, settings) => {
    const { title, referrer, sizes, searched, results, properties, replaced, at, ...own } = data
    const [screenWidth, screenHeight, width, height] = Array.isArray(sizes) ? sizes : []
    const view = {
      // A view is worth more than what its page may hide: title and sizes.
      title: cut(title, titleLengthMax) ?? '',
      referrer: urlOf(referrer) ?? (referrer || null),
      screen: { height: numberOf(screenHeight) || 0, width: numberOf(screenWidth) || 0 },
      viewport: { height: numberOf(height) || 0, width: numberOf(width) || 0 },
      ...own,
    }
    // A changed query is not a page view, unless the settings require it.
    const isView = !replaced || settings.track_query
    return { ...(isView && { page_view: view }), search: searchOfPage(data, settings) }
  },

  click,
  // The middle button only acts on links, which it opens in a new tab.
  auxclick: (data, settings, type) => (isInLink(data.path) ? click(data, settings, type) : {}),

  scroll: ({ percentage, threshold }) => ({
    scroll_depth: { percentage: Math.min(100, Math.floor(numberOf(percentage))), threshold },
  }),

  copy,
  cut: copy,

  submit: (data, settings) => ({
    form_submission: normalizeForm(data),
    search: searchOfForm(data, settings),
    custom: normalizeMarked([data.form], data.properties),
  }),

  play: video,
  pause: video,
  timeupdate: video,
  ended: video,

  track: ({ name, properties }) => ({ custom: name ? { name, properties } : undefined }),

  rage: judged,
  dead: judged,
}

/** Only for videos and embedded players, not for audio. Browsers also pause a video that ends. */
function videoFrom(data: Data, steps: Description[], action: string): Data | undefined {
  const { currentSrc, currentTime, duration, ended } = data
  const element = steps[0]!
  if (element.tag !== 'video' && element.tag !== 'iframe') return
  if (action === 'pause' && ended) return
  const percent = Math.min(100, (100 * numberOf(currentTime)) / numberOf(duration)) || 0
  const isProgress = action === 'timeupdate'
  const title = element['data-footfall-title'] ?? element.title ?? element['aria-label']
  return {
    // Distinguishes two players of one file.
    elementIdentifier: identifierOf(steps),
    src: cut(currentSrc, srcLengthMax),
    title: clean(cut(title, titleLengthMax)) || null,
    action: isProgress ? 'progress' : action,
    position: numberOf(currentTime) || 0,
    duration,
    // A quarter is reported when playback first passes it.
    percent: isProgress ? Math.floor(percent / 25) * 25 : Math.floor(percent),
  }
}

const titleLengthMax = 1000
const srcLengthMax = 2048

/** The person who owns a browser. */
export interface Person {
  /** SHA-256 of the normalised e-mail address, hex. */
  hem: string
  /** identify: the site named the person. form: the address was entered in a form. */
  source: 'identify' | 'form'
  /** The signature of the hem by the site's server, if the input has one. */
  signature?: unknown
}

/** Returns the person in `hem`, `hem_source` and `hem_signature`, or the fault of the first two. */
export function personOf({
  hem,
  hem_source = 'identify',
  hem_signature: signature,
}: Data): Person | Fault {
  if (!isHem(hem)) return { path: '/hem', message: 'must be 64 lower-case hexadecimal characters' }
  if (hem_source !== 'identify' && hem_source !== 'form')
    return { path: '/hem_source', message: 'must be identify or form' }
  return { hem, source: hem_source, ...(signature != null && { signature }) }
}

const isHem = (value: unknown): value is string =>
  typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
