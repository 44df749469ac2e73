import { textLengthMax, urlLengthMax } from '../../../schemas/events/common.ts'
import { nameCharsMax } from '../../../schemas/events/custom.ts'
import { markLongIntegers } from '../../ingest/normalize/exactNumbers.ts'
import { cut } from '../../ingest/normalize/text.ts'
import type { Fault } from '../../ingest/normalize/validateEvent.ts'
import { isObject } from '../../platform/json.ts'
import type { ImportedRow } from './columns.ts'

export type Data = Record<string, unknown>

const notAnObject = (column: string): Fault => ({
  path: `/${column}`,
  message: 'must be a JSON object',
})

/**
 * Returns the `event_data` of a row, with the row's time if it has none. Without this column it is built from
 * other columns. `exact` is the same with long integers marked (exactNumbers.ts), if it has any.
 */
export function dataOfRow(
  row: ImportedRow,
  millis: number | null,
): { data: Data; exact?: Data | undefined } | Fault {
  const { event_data } = row
  const timestamp = millis === null ? undefined : new Date(millis).toISOString()
  if (event_data === undefined) {
    const made = madeData(row)
    if ('path' in made) return made
    const data = { ...made.data, timestamp }
    shorten(data)
    return { data }
  }
  const isText = typeof event_data === 'string'
  const data = isText ? parsed(event_data) : event_data
  if (!isObject(data)) return notAnObject('event_data')
  const exact = isText ? exactOf(event_data) : row.exactData
  data.timestamp ??= timestamp
  shorten(data)
  if (!isObject(exact)) return { data }
  exact.timestamp ??= timestamp
  shorten(exact)
  return { data, exact }
}

/** The longest texts of the schemas. An event is worth more than the end of its name. */
const lengths = {
  name: nameCharsMax,
  title: textLengthMax,
  url: urlLengthMax,
  referrer: urlLengthMax,
}

function shorten(data: Data): void {
  for (const [name, length] of Object.entries(lengths))
    if (typeof data[name] === 'string') data[name] = cut(data[name], length)
}

function exactOf(text: string): unknown {
  const marked = markLongIntegers(text)
  return marked === null ? undefined : JSON.parse(marked)
}

function madeData(row: ImportedRow): { data: Data } | Fault {
  const { page_url: url, referrer_url: referrer = null } = row
  if (row.event_type === 'page_view') {
    const screen = sizeOf(row.screen_width, row.screen_height)
    const viewport = sizeOf(row.viewport_width, row.viewport_height)
    return { data: { url, title: row.title ?? '', referrer, screen, viewport } }
  }
  if (row.event_type !== 'custom') return notAnObject('event_data')
  const { properties = {} } = row
  const read = typeof properties === 'string' ? parsed(properties) : properties
  return isObject(read)
    ? { data: { url, name: row.name, properties: read } }
    : notAnObject('properties')
}

/** Zero if the file has no widths; their columns are then empty. */
const sizeOf = (width: unknown, height: unknown) => ({
  height: Number(height ?? 0) || 0,
  width: Number(width ?? 0) || 0,
})

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
