import type { EventType } from './events/index.ts'

/**
 * An event as the pixel sends it: data that only the page has. The collector derives one or more events from
 * it, or none (collector/ingest/normalize). POST /e accepts it together with complete events. Its type is the
 * browser event or the command.
 */
export type CapturedEvent<T extends CapturedType = CapturedType> = CapturedData<T> & {
  type: T
  /** Math.random(): with the time it makes the event's id, the same however often it is sent. */
  id: number
  url: string
  /** Where the visitor came from to that page; empty where nobody says. */
  referrer: string
  /** When it happened, in milliseconds since 1970; ISO 8601 from scripts that are still in caches. */
  at: number | string
  /** What footfall('set', …) gave, for custom events. */
  properties?: object | undefined
}

export interface Noted {
  /** A page view, with search data of the page. The page's own fields have priority. */
  page: {
    title: string
    /** Width and height of the screen, then of the window. */
    sizes: [number, number, number, number]
    /** The last search of a form on this page, which counts with the search. */
    searched: string | undefined
    results: string | undefined
    /** Only the query of the URL was replaced: a page view where the settings say so, else what it searches for. */
    replaced?: boolean | undefined
  }
  click: Click
  auxclick: Click
  /** Its url where it ends another view than the page's present one. */
  scroll: { url?: string; percentage: number; threshold: number }
  copy: Copy
  cut: Copy
  submit: {
    form: Description
    /** Base URL of the action of the form. */
    base: string
    /** Of each field "name type autocomplete" and, where it is searched by, what for. */
    fields: [string, string | false][]
    /** Search term, if the page handles the search itself. */
    prevented: string | false | undefined
  }
  play: Playing
  pause: Playing
  timeupdate: Playing
  ended: Playing
  track: { name: string; properties: object }
  /** Who this browser belongs to; nothing without consent. */
  identify: { hem?: string; hem_source?: 'form'; hem_signature?: string }
  rage: Click
  dead: Click
}

interface Click {
  /** The clicked element and some around it, from the inside out; further out the marked ones. */
  path: Description[]
  /** What inside it has a label, for one without a text. */
  label: Description | null | undefined | false
  text: string
  clientX: number
  clientY: number
}

interface Copy {
  text: string
  textLength: number
}

interface Playing {
  /** The player and some elements around it, as of a click. */
  path: Description[]
  currentSrc: string
  currentTime: number
  duration: number
  ended: boolean
}

export type CapturedType = keyof Noted
export type CapturedData<T extends CapturedType> = Noted[T]

/** The event that each type is, whatever else is derived from it. */
export const eventTypeOf: Record<CapturedType, EventType | 'identify'> = {
  page: 'page_view',
  click: 'click',
  auxclick: 'click',
  scroll: 'scroll_depth',
  copy: 'copy',
  cut: 'copy',
  submit: 'form_submission',
  play: 'video',
  pause: 'video',
  timeupdate: 'video',
  ended: 'video',
  track: 'custom',
  identify: 'identify',
  rage: 'custom',
  dead: 'custom',
}

/** An element, by its attributes that are harmless. */
export interface Description {
  tag: string
  /** Its place among its siblings of that tag, from 1. */
  nth?: number | undefined
  /** Of a link, absolute; inside an SVG as it is written. */
  href?: unknown
  [attribute: string]: unknown
}
