import { basename } from 'node:path'
import { direct } from '../../events/query/sessionFields.ts'
import { sourceNamed } from '../../events/query/trafficSources.ts'
import { cut } from '../../ingest/normalize/text.ts'
import { dayExists } from '../../platform/days.ts'
import { StartError } from '../../platform/startError.ts'
import { browserOf, chosen, deviceTypeOf, systemOf } from '../importEvents/products/names.ts'
import { countryOf } from '../importEvents/products/product.ts'

/** Figures of a value of a dimension on a day. An empty dimension has the figures of the complete day. */
export interface DayRow {
  readonly dimension: string
  readonly date: string
  readonly value: string
  readonly visitors: number
  readonly page_views: number
  readonly sessions: number
}

interface Table {
  /** Columns of the file, with the dimensions of Footfall that they become. */
  readonly columns: Readonly<Record<string, string>>
  /** The column with visits, which differs between the files. */
  readonly visits: string
}

/** The files of Plausible's export, by their names without dates. */
export const tables: Readonly<Record<string, Table>> = {
  imported_visitors: { columns: {}, visits: 'visits' },
  imported_sources: {
    columns: {
      source: 'source',
      utm_source: 'utm_source',
      utm_medium: 'utm_medium',
      utm_campaign: 'utm_campaign',
      utm_content: 'utm_content',
      utm_term: 'utm_term',
    },
    visits: 'visits',
  },
  imported_pages: { columns: { page: 'page_path' }, visits: 'visits' },
  imported_entry_pages: { columns: { entry_page: 'entry_page' }, visits: 'entrances' },
  imported_exit_pages: { columns: { exit_page: 'exit_page' }, visits: 'exits' },
  imported_locations: { columns: { country: 'country' }, visits: 'visits' },
  imported_devices: { columns: { device: 'device_type' }, visits: 'visits' },
  imported_browsers: { columns: { browser: 'browser' }, visits: 'visits' },
  imported_operating_systems: { columns: { operating_system: 'os' }, visits: 'visits' },
  imported_custom_events: { columns: { name: 'event_data.name' }, visits: 'visits' },
}

const fileName = /^(imported_[a-z_]+?)(?:_\d{8}_\d{8})?\.csv(?:\.gz|\.zst|\.zstd)?$/

/** Returns the table of a file. Throws StartError for a file that is none of Plausible's export. */
export function tableOf(path: string): Table {
  const [, name] = fileName.exec(basename(path)) ?? []
  const table = name === undefined ? undefined : tables[name]
  if (table) return table
  throw new StartError(
    `${path}: the name must be that of a file in Plausible's export, such as imported_visitors_20230101_20231231.csv. The files are ${Object.keys(tables).join(', ')}. Unpack the ZIP file first`,
  )
}

/** Footfall's value for one of Plausible's, so that both have the same names. */
function valueIn(dimension: string, value: string): string {
  if (dimension === 'device_type') return deviceTypeOf(value) ?? ''
  if (dimension === 'os') return systemOf(value) ?? ''
  if (dimension === 'browser') return browserOf(value) ?? ''
  if (dimension === 'country') return countryOf(value) ?? ''
  if (dimension !== 'source') return chosen(value) ?? ''
  if (value === 'Direct / None' || value === '') return direct
  return sourceNamed(value)
}

const valueCharsMax = 8_192

/** The columns of a file that Footfall stores. */
export const columnsOf = ({ columns, visits }: Table): readonly string[] => [
  'date',
  'visitors',
  'pageviews',
  visits,
  ...Object.keys(columns),
]

/** Maps a row of a file, or returns the reason why it is skipped. */
export function rowsOfRecord(
  { columns, visits }: Table,
  record: Record<string, unknown>,
): DayRow[] | string {
  const date = String(record.date ?? '')
  if (!dayExists(date)) return 'date must be a day, such as 2023-01-31'
  const numbers = ['visitors', 'pageviews', visits].map((name) => countOf(record[name]))
  const wrong = numbers.indexOf(null)
  if (wrong >= 0)
    return `${['visitors', 'pageviews', visits][wrong]} must be an integer of at least 0`
  const [visitors, page_views, sessions] = numbers as [number, number, number]
  const figures = { date, visitors, page_views, sessions }
  const named = Object.entries(columns)
  if (named.length === 0) return [{ dimension: '', value: '', ...figures }]
  const rows = named.map(([column, dimension]) => ({
    dimension,
    value: valueIn(dimension, cut(record[column] ?? '', valueCharsMax) ?? ''),
    ...figures,
  }))
  // A row without any value is stored without one: it was counted, and its day may have no other.
  const valued = rows.filter(({ value }) => value !== '')
  return valued.length > 0 ? valued : rows.slice(0, 1)
}

/** A number of an export; absent columns are 0. */
function countOf(value: unknown): number | null {
  if (value === undefined) return 0
  const number = Number(value)
  return Number.isSafeInteger(number) && number >= 0 && /^\d+$/.test(String(value)) ? number : null
}
