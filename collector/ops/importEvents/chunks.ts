import { buffer } from 'node:stream/consumers'
import { openChunkReader } from '../../identity/load/chunkReader.ts'
import { parquetColumns } from '../../identity/load/inferColumns.ts'
import type { Source } from '../../identity/load/source.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { type ColumnOptions, columnsOfHeader } from './columns.ts'
import type { ProductRecord, ProductRow } from './products/product.ts'
import { createCsvReader, createJsonReader, createProductReader, type FileRow } from './rows.ts'

/** A position in a file: the uncompressed bytes and the lines before it; in a Parquet file the rows. */
export interface FilePosition {
  readonly bytes: number
  readonly lines: number
}

export interface RowChunk {
  rows(): Iterable<FileRow>
  readonly end: FilePosition
}

interface ChunkOptions extends ColumnOptions {
  readonly clickhouse: ClickHouse
  /** The table into which a Parquet file is decoded. */
  readonly stage: string
  /** Maps the records of another product's export; absent for events of Footfall's own fields. */
  readonly rowsOf?: ((record: ProductRecord) => Iterable<ProductRow>) | undefined
  /** Called for a file that ends within a record or an archive. */
  onEarlyEnd(): void
}

/** Reads the rows of a file from a position. Throws StartError for an unreadable file. */
export async function* chunksOf(
  source: Source,
  from: FilePosition,
  options: ChunkOptions,
): AsyncGenerator<RowChunk> {
  const { header, chunks } = await openChunkReader(source, from, chunkBytes, options.onEarlyEnd)
  if (source.format === 'parquet') {
    for await (const { bytes } of chunks) yield* chunksOfParquet(bytes, from.lines, options)
    return
  }
  const read = readerOf(header, options)
  for await (const { bytes, lines, end, isTorn } of chunks) {
    if (isTorn) options.onEarlyEnd()
    yield { rows: () => read(bytes, lines), end }
  }
}

function readerOf(header: Buffer | null, options: Pick<ChunkOptions, 'rowsOf'> & ColumnOptions) {
  if (options.rowsOf) return createProductReader(header, options.rowsOf)
  return header ? createCsvReader(header, options) : createJsonReader(options)
}

/** Live events wait for the insert of a chunk, so chunks are smaller than those of other loads. */
const chunkBytes = 16 * 1024 * 1024
/** Rows of a Parquet file that are inserted together. */
const parquetRows = 50_000

/** Decodes a Parquet file with ClickHouse, which supports every compression, into rows of JSON. */
async function* chunksOfParquet(
  bytes: Buffer,
  from: number,
  { clickhouse, stage, rowsOf, ...options }: ChunkOptions,
): AsyncGenerator<RowChunk> {
  const columns = await parquetColumns(clickhouse, bytes)
  const names = columns.map(({ name }) => name)
  const chosen = rowsOf
    ? new Map(names.map((name) => [name, quoted(name)]))
    : columnsOfHeader(names, options)
  const read = columns.filter(({ name }) => chosen.has(name))
  const structure = read.map(({ name, type }) => `${quoted(name)} ${type}`).join(', ')
  // Renames in two steps, because a mapping may swap the names of columns.
  const numbered = read.map(({ name }, index) => `${quoted(name)} AS column_${index}_of_file`)
  const named = read.map(({ name }, index) => `column_${index}_of_file AS ${chosen.get(name)}`)
  await dropForgotten(clickhouse)
  await clickhouse.command({ sql: `DROP TABLE IF EXISTS ${stage}`, params: {} })
  await clickhouse.command({
    sql: `CREATE TABLE ${stage} (row UInt64, record String) ENGINE = MergeTree ORDER BY row`,
    params: {},
  })
  await clickhouse.feed(
    {
      sql: `INSERT INTO ${stage}
            SELECT rowNumberInAllBlocks() + 1, formatRowNoNewline('JSONEachRow', ${[...chosen.values()].join(', ')})
            FROM (SELECT ${named.join(', ')} FROM (SELECT ${numbered.join(', ')} FROM input('${escaped(structure)}')))
            FORMAT Parquet`,
      params: {},
    },
    bytes,
    {
      max_threads: 1,
      max_insert_threads: 1,
      date_time_output_format: 'iso',
      output_format_json_quote_64bit_integers: 0,
    },
  )
  const readJson = readerOf(null, { rowsOf, mapping: new Map(), ignoreUnknown: false })
  for (let begin = from; ; begin += parquetRows) {
    const { body, rows } = await clickhouse.stream(
      {
        sql: `SELECT record FROM ${stage} WHERE row > {begin:UInt64} AND row <= {end:UInt64} ORDER BY row`,
        params: { begin, end: begin + parquetRows },
      },
      // biome-ignore lint/suspicious/noTemplateCurlyInString: ClickHouse's own placeholder
      { row: '${record:Raw}' },
    )
    const lines = await buffer(body)
    if (rows === 0) break
    yield { rows: () => readJson(lines, begin), end: { bytes: 0, lines: begin + rows } }
  }
  await clickhouse.command({ sql: `DROP TABLE ${stage}`, params: {} })
}

/** Drops the tables of killed imports that nobody continued. */
async function dropForgotten(clickhouse: ClickHouse): Promise<void> {
  const forgotten = await clickhouse.rows<{ name: string }>({
    sql: `SELECT name FROM system.tables WHERE database = currentDatabase() AND name LIKE 'import!_%' ESCAPE '!'
          AND metadata_modification_time < now() - INTERVAL 7 DAY`,
    params: {},
  })
  for (const { name } of forgotten)
    await clickhouse.command({ sql: `DROP TABLE IF EXISTS ${name}`, params: {} })
}

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")

const quoted = (name: string): string =>
  `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``
