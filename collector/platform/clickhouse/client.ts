import type { Readable } from 'node:stream'

/** SQL with bound values: ClickHouse replaces `{name:Type}` in `sql` with the value in `params`. */
export interface Query {
  readonly sql: string
  readonly params: Readonly<Record<string, unknown>>
  readonly settings?: Readonly<Record<string, string | number>> | undefined
}

/** A query that may bind no values. */
export type Statement = Omit<Query, 'params'> & Partial<Pick<Query, 'params'>>

/**
 * A query that also reads lists of texts that are too long to bind. Each list is a table with one column,
 * `value`.
 */
export interface ListQuery extends Query {
  readonly lists: Readonly<Record<string, readonly string[]>>
}

/**
 * The output format of a query. `row` is a template of a JSON row with `${column:JSON}` and `${column:Raw}`.
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

/** A finished response: ClickHouse completed the result before it sent the first byte. */
export interface ResultStream {
  readonly body: Readable
  /** The number of rows in `body`, known before `body` is read. */
  readonly rows: number
}

/** The row counts of an INSERT. Both numbers count rows that pass through a view again. */
export interface RawInsert {
  readonly readRows: number
  readonly writtenRows: number
}

/** The only interface to ClickHouse: openClickHouse.ts opens one server, cluster.ts several. */
export interface ClickHouse {
  readonly database: string
  /** Name of the servers' cluster. Null for a single server. */
  readonly cluster: string | null
  /**
   * The shards; the first one holds all data that is not sharded. Without shards, the list contains only this
   * connection.
   */
  readonly shards: readonly ClickHouse[]
  /** Every server, replicas included. */
  readonly nodes: readonly ClickHouse[]
  /** Runs a query and parses its rows. Use it for small results. */
  rows<Row>(query: Statement): Promise<Row[]>
  /** Runs a query and returns its bytes unparsed. */
  stream(
    query: Statement | ListQuery,
    format: OutputFormat,
    signal?: AbortSignal,
    settings?: Readonly<Record<string, number>>,
  ): Promise<ResultStream>
  command(query: Statement): Promise<void>
  /**
   * Inserts JSONEachRow bytes as one block. ClickHouse stores the same bytes with the same token once, within
   * the table's deduplication window. So a retry after a lost response is harmless.
   */
  insertLines(
    table: string,
    lines: Readable,
    deduplicationToken: string,
    queryId?: string,
  ): Promise<void>
  /**
   * Runs an INSERT … SELECT … FROM input(…) FORMAT …, with `bytes` in that format as its input. Columns of
   * text accept JSON numbers and booleans. Rows before invalid bytes may have been inserted.
   */
  feed(
    query: Query,
    bytes: Buffer,
    settings?: Readonly<Record<string, number | string>>,
  ): Promise<RawInsert>
  /** Runs a query and returns its rows as zstd-compressed Native format, for `importRows`. One server only. */
  exportRows(query: Query): Promise<ResultStream>
  /**
   * Runs an INSERT … FORMAT Native with the bytes of `exportRows` as its input, and returns the number of rows. One
   * server only.
   */
  importRows(statement: Query, bytes: Buffer): Promise<number>
  ping(): Promise<boolean>
  close(): Promise<void>
}
