import type { Static } from 'typebox'
import { click } from './click.ts'
import { copy } from './copy.ts'
import { custom } from './custom.ts'
import { deliveredData, deliveredTypes } from './delivered.ts'
import { download } from './download.ts'
import { form_submission } from './form_submission.ts'
import { page_view } from './page_view.ts'
import { scroll_depth } from './scroll_depth.ts'
import { search } from './search.ts'
import { video } from './video.ts'

const definitions = {
  page_view,
  click,
  scroll_depth,
  copy,
  form_submission,
  search,
  video,
  download,
  custom,
}

export type EventType = keyof typeof definitions
export type EventData<T extends EventType = EventType> = Static<(typeof definitions)[T]['data']>

export const eventTypes = Object.keys(definitions) as readonly EventType[]

const ofEach = <K extends 'data' | 'number'>(key: K) =>
  Object.fromEntries(eventTypes.map((type) => [type, definitions[type][key]])) as {
    readonly [T in EventType]: (typeof definitions)[T][K]
  }

/**
 * Event type → schema of its event_data. The pixel takes its types from here, the collector its validators, the
 * documentation its text. Keys a schema does not name are kept as sent.
 */
export const eventDataSchemas = ofEach('data')

/** Event type → the number that ends the ids of its events. */
export const eventNumbers = ofEach('number')

/** What events of each source are, with the JSON Schema of their event_data. */
export const storedTypes = [
  ...eventTypes.map((event_type) => ({
    source: 'pixel' as const,
    event_type,
    event_data: eventDataSchemas[event_type],
  })),
  ...deliveredTypes.map((event_type) => ({
    source: 'svcdsp' as const,
    event_type,
    event_data: deliveredData,
  })),
]

/** The types of one source, or of both when it is null. */
export const typesOf = (asked: 'pixel' | 'svcdsp' | null) =>
  storedTypes.filter(({ source }) => asked === null || source === asked)
