import { text } from 'node:stream/consumers'
import { ClickHouseError, type ClickHouseSettings, createClient } from '@clickhouse/client'
import { eventColumns, type Field } from '../../../schemas/fields.ts'
import { isSimulated } from '../postgres/simulation.ts'
import { ClickHouseRefused } from '../storeErrors.ts'
import { traceHeaders } from '../traceContext.ts'
import type { ClickHouse, Statement } from './client.ts'
import { eventsOfShard } from './shards.ts'
import { sqlText } from './statements.ts'
import { commonSettings, exportRows, importRows, insertRaw, openStream } from './stream.ts'

/** ClickHouse settings, as HTTP parameters. */
export type OwnSettings = Readonly<Record<string, string | number>>

/** One block per insert, because ClickHouse checks the deduplication token per block. */
const insertSettings: ClickHouseSettings = {
  async_insert: 0,
  insert_deduplicate: 1,
  max_insert_block_size: '1000000',
  min_insert_block_size_rows: '1000000',
  min_insert_block_size_bytes: '1073741824',
  input_format_parallel_parsing: 0,
  date_time_input_format: 'best_effort',
  input_format_skip_unknown_fields: 1,
  // event_data is an object in the line, and the same bytes as text in the table.
  input_format_json_read_objects_as_strings: 1,
}

/**
 * Opens `url` (credentials included) on `database` without connecting yet. `own` settings apply to all
 * statements; cluster.ts opens several servers.
 */
export function openClickHouse(url: string, database: string, own: OwnSettings = {}): ClickHouse {
  const client = createClient({
    url,
    database,
    application: 'footfall',
    request_timeout: 120_000,
    max_open_connections: 32,
    // Large values are sent in the body because proxies refuse long URLs.
    use_multipart_params_auto: true,
    keep_alive: { idle_socket_ttl: 2_000 },
    clickhouse_settings: { ...commonSettings, ...own },
    log: { level: 127 },
  })

  const clickhouse: ClickHouse = {
    database,
    cluster: null,
    get shards() {
      return [clickhouse]
    },
    get nodes() {
      return [clickhouse]
    },

    async rows<Row>(query: Statement) {
      const result = await client
        .query({
          query: query.sql,
          query_params: { ...query.params },
          format: 'JSONEachRow',
          ...(query.settings && { clickhouse_settings: query.settings }),
          http_headers: { ...traceHeaders() },
        })
        .catch(translate)
      return result.json<Row>()
    },

    stream: (query, format, signal, settings) =>
      openStream(url, database, query, format, {
        signal,
        settings: { ...own, ...query.settings, ...settings },
      }),

    async command(query) {
      if (isSimulated()) return
      await client
        .command({
          query: query.sql,
          query_params: { ...query.params },
          ...(query.settings && { clickhouse_settings: query.settings }),
        })
        .catch(translate)
    },

    async insertLines(table, lines, deduplicationToken, queryId) {
      const answer = await client
        .exec({
          query: insertStatement(table),
          values: lines,
          ...(queryId && { query_id: queryId }),
          clickhouse_settings: {
            ...insertSettings,
            insert_deduplication_token: deduplicationToken,
            wait_end_of_query: 1,
          },
        })
        .catch(translate)
      await text(answer.stream)
    },

    feed: (query, bytes, settings = {}) =>
      insertRaw(url, database, query, bytes, { ...own, ...settings }),

    exportRows: (query) => exportRows(url, database, query),

    importRows: (statement, bytes) => importRows(url, database, statement, bytes),

    async ping() {
      return (await client.ping()).success
    },

    close: () => client.close(),
  }
  return clickhouse
}

function translate(error: unknown): never {
  throw error instanceof ClickHouseError
    ? new ClickHouseRefused(error.message, Number(error.code))
    : error
}

/**
 * Returns the statement that inserts lines into a table. Events use input(), because ClickHouse creates a
 * temporary column for each value that it reads directly into a LowCardinality column. Reading texts and
 * converting them together takes half the time.
 */
const insertStatement = (table: string): string =>
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
  return `INSERT INTO ${table} (${names}) SELECT ${values.join(', ')} FROM input(${sqlText(structure)}) FORMAT JSONEachRow`
}
