import { eventColumns, type Field } from '../../../schemas/fields.ts'
import { eventsOfShard } from './shards.ts'

/**
 * Returns the statement that inserts lines into a table. Events use input(), because ClickHouse creates a
 * temporary column for each value that it reads directly into a LowCardinality column. Reading texts and
 * converting them together takes half the time.
 */
export const insertStatement = (table: string): string =>
  insertEvents[table] ?? `INSERT INTO ${table} FORMAT JSONEachRow`

interface Read {
  name: string
  /** The type of the value in the lines. */
  type: string
  /** The value that replaces null or a missing member. */
  fallback?: string | undefined
}

/** The columns that are not in the field table (001_collection.sql). */
const ofSpool: readonly Read[] = [
  { name: 'organization_id', type: 'UUID' },
  { name: 'spool_id', type: 'UUID' },
  { name: 'seq', type: 'UInt64' },
]

const columnType =
  /^(?:LowCardinality\((?<few>.*?)\)|(?<many>.*?))(?: DEFAULT (?<fallback>.*?))?(?: CODEC\(.*)?$/

function readOf({ name, columnType: declared }: Field): Read {
  const { few, many, fallback } = columnType.exec(declared)!.groups!
  const type = (few ?? many)!
  return { name, type: fallback === undefined ? type : `Nullable(${type})`, fallback }
}

const eventReads = [
  ...ofSpool,
  ...eventColumns.filter(({ alias, materialized }) => !alias && !materialized).map(readOf),
]

const insertEvents: Readonly<Record<string, string>> = Object.fromEntries(
  ['events', eventsOfShard].map((table) => [table, insertThroughInput(table, eventReads)]),
)

function insertThroughInput(table: string, columns: readonly Read[]): string {
  const names = columns.map(({ name }) => name).join(', ')
  const values = columns.map(({ name, fallback }) =>
    fallback ? `ifNull(${name}, ${fallback})` : name,
  )
  const structure = columns.map(({ name, type }) => `${name} ${type}`).join(', ')
  const quoted = structure.replaceAll("'", "\\'")
  return `INSERT INTO ${table} (${names}) SELECT ${values.join(', ')} FROM input('${quoted}') FORMAT JSONEachRow`
}
