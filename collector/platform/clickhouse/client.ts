import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { ClickHouseError, type ClickHouseSettings, createClient } from '@clickhouse/client'
import { insertRaw, openStream } from './stream.ts'

/** SQL with its bound values: `{name:Type}` in `sql` is filled from `params` by ClickHouse itself. */
export interface Query {
  readonly sql: string
  readonly params: Readonly<Record<string, unknown>>
  /**
   * Where all that is read are events of this pixel, and no other table stands beside them: of several shards the one
   * that has them may be asked by itself. The SQL says `{events:Identifier}` for their table, and `params` has `events`.
   */
  readonly pixelId?: string
}

/** A query that selects, too, from lists of texts which are too long to bind: tables by these names, with one column `value`. */
export interface ListQuery extends Query {
  readonly lists: Readonly<Record<string, readonly string[]>>
}

/**
 * How rows leave ClickHouse: as lines of JSON, one array of JSON, CSV, or tables of typed columns. `row` is a row of JSON with `${column:JSON}` and
 * `${column:Raw}` in it.
 */
export type OutputFormat = NamedFormat | { readonly row: string; readonly as?: 'JSONEachRow' | 'JSONArray' }
export type NamedFormat = 'JSONEachRow' | 'JSONArray' | 'CSVWithNames' | 'Parquet' | 'ArrowStream'

/** A finished answer: ClickHouse had the whole of it before the first byte came. */
export interface ResultStream {
  readonly body: Readable
  /** Rows in `body`, known before it is read. */
  readonly rows: number
}

/** What an INSERT did. Rows that go through views are in both numbers once more. */
export interface RawInsert {
  readonly readRows: number
  readonly writtenRows: number
}

/** ClickHouse got the statement and refused it. Everything else that goes wrong is thrown as it came: no connection, no answer. */
export class ClickHouseRefused extends Error {
  /** ClickHouse's error code: 27 is CANNOT_PARSE_INPUT_ASSERTION_FAILED, and so on. */
  readonly code: number

  constructor(message: string, code: number) {
    super(message)
    this.code = code
  }
}

/** The only door to ClickHouse: nothing outside this file knows the driver. */
export interface ClickHouse {
  readonly database: string
  /** What the servers call the cluster that they are; null where there is one server only. */
  readonly cluster: string | null
  /** Each shard by itself, the first of which holds all that is not sharded; itself where nothing is. */
  readonly shards: readonly ClickHouse[]
  /** Every server, replicas included. */
  readonly nodes: readonly ClickHouse[]
  /** Runs a query and parses its rows. For small answers. */
  rows<Row>(query: Query): Promise<Row[]>
  /** Runs a query and hands its bytes on unparsed. */
  stream(
    query: Query | ListQuery,
    format: OutputFormat,
    signal?: AbortSignal,
    settings?: Readonly<Record<string, number>>,
  ): Promise<ResultStream>
  /** Runs a statement that answers nothing. */
  command(query: Query): Promise<void>
  /**
   * Inserts JSONEachRow bytes as one block. The same bytes with the same token are stored once, within the
   * table's deduplication window, so a retry after a lost answer is harmless.
   */
  insertLines(table: string, lines: Readable, deduplicationToken: string, queryId?: string): Promise<void>
  /**
   * Runs an INSERT … SELECT … FROM input(…) FORMAT …, with `bytes` in that format as its input: numbers and truth
   * values of JSON may be read as texts. What was read before bytes that cannot be read may have been inserted.
   */
  feed(query: Query, bytes: Buffer, settings?: Readonly<Record<string, number | string>>): Promise<RawInsert>
  ping(): Promise<boolean>
  close(): Promise<void>
}

/** How rows leave: ISO times, plain numbers for Int64 (all of ours fit a double), empty CSV nulls. */
export const outputSettings: ClickHouseSettings = {
  date_time_output_format: 'iso',
  output_format_json_quote_64bit_integers: 0,
  output_format_json_escape_forward_slashes: 0,
  format_csv_null_representation: '',
}

/** Settings of ClickHouse, as it takes them over HTTP. */
export type OwnSettings = Readonly<Record<string, string | number>>

/** One block per insert: the deduplication token counts per block. */
const insertSettings: ClickHouseSettings = {
  async_insert: 0,
  insert_deduplicate: 1,
  max_insert_block_size: '1000000',
  min_insert_block_size_rows: '1000000',
  min_insert_block_size_bytes: '1073741824',
  input_format_parallel_parsing: 0,
  date_time_input_format: 'best_effort',
  input_format_skip_unknown_fields: 1,
  // event_data is an object in the line and a text in the table, byte by byte.
  input_format_json_read_objects_as_strings: 1,
}

/**
 * Opens `url` (credentials included) on `database`. Nothing is sent before the first call. `own` are settings that all
 * its statements have; cluster.ts opens several servers.
 */
export function openClickHouse(url: string, database: string, own: OwnSettings = {}): ClickHouse {
  const client = createClient({
    url,
    database,
    application: 'footfall',
    request_timeout: 120_000,
    max_open_connections: 32,
    // Large values go in the body: proxies refuse long addresses.
    use_multipart_params_auto: true,
    keep_alive: { idle_socket_ttl: 2_000 },
    clickhouse_settings: { ...outputSettings, ...own },
    log: { level: 127 },
  })

  const clickhouse: ClickHouse = {
    ...{ database, cluster: null },
    get shards() {
      return [clickhouse]
    },
    get nodes() {
      return [clickhouse]
    },

    async rows<Row>(query: Query) {
      const result = await client
        .query({
          query: query.sql,
          query_params: { ...query.params },
          format: 'JSONEachRow',
        })
        .catch(translate)
      return result.json<Row>()
    },

    stream: (query, format, signal, settings) =>
      openStream(url, database, query, format, { signal, settings: { ...own, ...settings } }),

    async command(query) {
      await client.command({ query: query.sql, query_params: { ...query.params } }).catch(translate)
    },

    async insertLines(table, lines, deduplicationToken, queryId) {
      const answer = await client
        .exec({
          query: `INSERT INTO ${table} FORMAT JSONEachRow`,
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

    feed: (query, bytes, settings = {}) => insertRaw(url, database, query, bytes, { ...own, ...settings }),

    async ping() {
      return (await client.ping()).success
    },

    close: () => client.close(),
  }
  return clickhouse
}

/** The driver's error in our words. */
function translate(error: unknown): never {
  throw error instanceof ClickHouseError ? new ClickHouseRefused(error.message, Number(error.code)) : error
}
