import type { Static } from 'typebox'
import { click } from './click.ts'
import { copy } from './copy.ts'
import { custom } from './custom.ts'
import { download } from './download.ts'
import { form_submission } from './form_submission.ts'
import { page_view } from './page_view.ts'
import { scroll_depth } from './scroll_depth.ts'
import { search } from './search.ts'
import { video } from './video.ts'

/**
 * Event type → schema of its event_data. The pixel takes its types from here, the collector its validators, the
 * documentation its text. Keys a schema does not name are kept as sent.
 */
export const eventDataSchemas = {
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

export type EventType = keyof typeof eventDataSchemas
export type EventData<T extends EventType = EventType> = Static<(typeof eventDataSchemas)[T]>

export const eventTypes = Object.keys(eventDataSchemas) as readonly EventType[]
