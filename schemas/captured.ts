import type { EventType } from './events/index.ts'

/**
 * An event as the pixel sends it: only what the page alone can know. The collector makes one or more events of it, or
 * none (collector/ingest/normalize); POST /e takes it beside events that come complete. What the page listens to, or
 * the command that was called, is its type.
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
  /** A page view, with what the page shows of a search; the page's own fields win. */
  page: {
    title: string
    /** Width and height of the screen, then of the window. */
    sizes: [number, number, number, number]
    /** What was last searched for by a form of this page, and is counted with that. */
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
    /** What its action is relative to. */
    base: string
    /** Of each field "name type autocomplete" and, where it is searched by, what for. */
    fields: [string, string | false][]
    /** What it searched for, where the page itself handles it. */
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
