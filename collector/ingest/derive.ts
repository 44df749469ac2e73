import type { PixelSettings } from '../../schemas/beacon.ts'
import { type EventType, eventTypes } from '../../schemas/events/index.ts'
import { eventTypeOf, type NotedType } from '../../schemas/noted.ts'
import { clickFrom, downloadFrom, formFrom, markedFrom, stepsOf } from './describe.ts'
import { searchOfForm, searchOfPage } from './search.ts'
import { stripSecrets, stripUrlSecrets } from './secrets.ts'
import { clean, cut } from './text.ts'
import { isObject } from './validate.ts'

export type Data = Record<string, unknown>

/** An event made of what the pixel noted. */
interface Derived {
  event_id: string | undefined
  event_type: string
  event_data: Data
}

/**
 * The events that one member of a beacon's `events` stands for. One that came complete stays as it is, without the
 * secrets in its URLs; of what the pixel noted (schemas/noted.ts) come its event and those that follow from it: a
 * search from a page view or a form, a download and a marked element's own event from a click. Whatever a sender made
 * up, this throws nothing: what makes no event is left for the schemas to refuse.
 */
export function derive(event: unknown, settings: PixelSettings): unknown[] {
  if (!isObject(event)) return [event]
  const { type, id, url, at, event_type, ...noted } = event
  if (event_type !== undefined || typeof type !== 'string') {
    if (isObject(event.event_data)) stripUrlSecrets(event.event_data, settings)
    return [event]
  }
  const parts = isNotedType(type) ? makers[type]({ ...noted, url }, settings, type) : { [type]: noted }
  return Object.entries(parts).flatMap(([event_type, data]): Derived[] => {
    if (!data) return []
    const event_data = stripSecrets({ url, ...data, timestamp: at }, settings)
    return [{ event_id: idOf(at, id, event_type), event_type, event_data }]
  })
}

const isNotedType = (type: string): type is NotedType => Object.hasOwn(eventTypeOf, type)

/**
 * The uuid (version 8) of an event that the pixel noted: its time, the 52 bits its page threw, and the place of its
 * type among all, for several may be made of one. The same however often it is sent; undefined without a number.
 */
function idOf(at: unknown, thrown: unknown, event_type: string): string | undefined {
  if (typeof thrown !== 'number' || !(thrown >= 0 && thrown < 1)) return
  const time = hex(Math.max(0, Date.parse(`${at}`) || 0), 12)
  const bits = hex(Math.floor(thrown * 2 ** 52), 13)
  const type = hex(eventTypes.indexOf(event_type as EventType) + 1, 2)
  const groups = [time.slice(0, 8), time.slice(8), `8${bits.slice(0, 3)}`, `8${bits.slice(3, 6)}`]
  return [...groups, `${bits.slice(6)}000${type}`].join('-')
}

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0').slice(-digits)

/** What an event's data are made of by the type the pixel notes; undefined where it makes none of a type. */
type Make = (data: Data, settings: PixelSettings, type: string) => { [T in EventType]?: Data | undefined }

const video: Make = (data, _settings, type) => ({ video: videoFrom(data, type) })

const makers: Record<NotedType, Make> = {
  page: (data, settings) => {
    const { title, referrer, sizes, searched, results, properties, ...own } = data
    const [screenWidth, screenHeight, width, height] = Array.isArray(sizes) ? sizes : []
    const view = {
      title: cut(title, titleLengthMax),
      referrer: referrer || null,
      screen: { height: screenHeight, width: screenWidth },
      viewport: { height, width },
      ...own,
    }
    return { page_view: view, search: searchOfPage(data, settings) }
  },

  click: (data, settings) => ({
    click: clickFrom(data, settings),
    download: downloadFrom(data, settings),
    // A form's turn comes when it is submitted.
    custom: markedFrom(
      stepsOf(data.path).filter(({ tag }) => tag !== 'form'),
      data.properties,
    ),
  }),

  scroll: ({ percentage, threshold }) => ({
    scroll_depth: { percentage: Math.min(100, Math.floor(Number(percentage))), threshold },
  }),

  copy: ({ text, textLength }) => ({
    copy: { text: cut(text, Number.POSITIVE_INFINITY), textLength },
  }),

  submit: (data, settings) => ({
    form_submission: formFrom(data),
    search: searchOfForm(data, settings),
    custom: markedFrom([data.form], data.properties),
  }),

  play: video,
  pause: video,
  timeupdate: video,
  ended: video,

  track: ({ name, properties }) => ({ custom: name ? { name, properties } : undefined }),

  // Makes a link (personIn), no event.
  identify: () => ({}),
}

/** Only of videos and embedded players: audio is none. Browsers pause a video that ends, too. */
function videoFrom(data: Data, action: string): Data | undefined {
  const { element, currentSrc, currentTime, duration, ended } = data
  if (!isObject(element) || !['video', 'iframe'].includes(`${element.tag}`)) return
  if (action === 'pause' && ended) return
  const percent = Math.min(100, (100 * Number(currentTime)) / Number(duration)) || 0
  const isProgress = action === 'timeupdate'
  const title = element['data-footfall-title'] ?? element.title ?? element['aria-label']
  return {
    src: cut(currentSrc, srcLengthMax),
    title: clean(cut(title, titleLengthMax)) || null,
    action: isProgress ? 'progress' : action,
    position: currentTime,
    duration,
    // A quarter is reported by the first time past it.
    percent: isProgress ? Math.floor(percent / 25) * 25 : Math.floor(percent),
  }
}

const titleLengthMax = 1000
const srcLengthMax = 2048

/** Who a browser belongs to. */
export interface Person {
  /** SHA-256 of the normalised e-mail address, hex. */
  hem: string
  /** identify: the site said so. form: it was written into a form. */
  source: 'identify' | 'form'
}

/** Whom one member of a beacon's `events` names; undefined when it names nobody. */
export function personIn(event: unknown): Person | undefined {
  if (!isObject(event) || event.type !== 'identify' || !isHem(event.hem)) return
  return { hem: event.hem, source: event.hem_source === 'form' ? 'form' : 'identify' }
}

export const isHem = (value: unknown): value is string =>
  typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
