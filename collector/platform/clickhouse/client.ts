import type { Readable } from 'node:stream'

/** SQL with its bound values: `{name:Type}` in `sql` is filled from `params` by ClickHouse itself. */
export interface Query {
  readonly sql: string
  readonly params: Readonly<Record<string, unknown>>
  /**
   * Set if the query reads only events of this pixel, and no other table: of several shards only its shard is
   * queried. The SQL has `{events:Identifier}` for the table, and `params` has `events`.
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
export type OutputFormat =
  | NamedFormat
  | { readonly row: string; readonly as?: 'JSONEachRow' | 'JSONArray' }
export type NamedFormat =
  | 'JSONEachRow'
  | 'JSONArray'
  | 'CSV'
  | 'CSVWithNames'
  | 'Parquet'
  | 'ArrowStream'

/** A finished response: ClickHouse had all of it before it sent the first byte. */
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

/** The only door to ClickHouse: openClickHouse.ts opens one server, cluster.ts several. */
export interface ClickHouse {
  readonly database: string
  /** Name of the cluster of the servers. Null for a single server. */
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
  insertLines(
    table: string,
    lines: Readable,
    deduplicationToken: string,
    queryId?: string,
  ): Promise<void>
  /**
   * Runs an INSERT … SELECT … FROM input(…) FORMAT …, with `bytes` in that format as its input. Numbers and
   * booleans of JSON may be read as texts. Rows before invalid bytes may have been inserted.
   */
  feed(
    query: Query,
    bytes: Buffer,
    settings?: Readonly<Record<string, number | string>>,
  ): Promise<RawInsert>
  ping(): Promise<boolean>
  close(): Promise<void>
}
