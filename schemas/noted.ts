import type { EventData, EventType } from './events/index.ts'

/**
 * What the pixel notes, where that is less than what is stored: it sends what only the page can know, and the
 * collector derives the rest (collector/ingest/derive.ts). Events that come complete are taken as they are.
 */
export interface Noted {
  page_view: Own<'page_view', { referrer: string }>
  click: {
    /** The clicked element and up to four around it, from the inside out. */
    path: Description[]
    elementText: string
    coordinates: { x: number; y: number }
    /** Clicks in a row at this place, as the browser counts them. */
    clicks: number
    /** The page did something within the moments after. */
    reacted: boolean
  }
  scroll_depth: Own<'scroll_depth'>
  copy: Own<'copy'>
  form_submission: { form: Description; fields: string[] }
  search: { query: string; results_count: string | undefined }
  video: {
    element: Description
    src: string
    /** play, pause, timeupdate or ended. */
    action: string
    position: number
    duration: number
  }
  download: { element: Description }
  custom: Own<'custom'> | { element: Description; properties: object }
}

/** The data of a type as the pixel gives it: where and when are added for it. */
export type NotedData<T extends EventType> = Noted[T]

type Own<T extends EventType, Changes = unknown> = Omit<EventData<T>, 'url' | 'timestamp' | keyof Changes> &
  Changes

/** An element, by its attributes that are harmless. */
export interface Description {
  tag: string
  /** Its place among its siblings of that tag, from 0. */
  nth?: number | undefined
  /** Of a link, absolute. */
  href?: unknown
  [attribute: string]: unknown
}
