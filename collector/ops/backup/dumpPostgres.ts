/**
 * Backup of PostgreSQL as text. Each table is a sequence of JSON lines, one for each row, with PostgreSQL's own text of
 * each value. `pg_dump` is not an option: npm does not provide it, and it must not be older than the server.
 */
import { crc32, gzipSync } from 'node:zlib'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import type { PostgresManifest, PostgresTable } from './manifest.ts'
import { type ObjectWriter, objectBytesMax } from './objectStore.ts'

const batchRows = 1_000

/** Records of migrations and functions, which the restore fills again, and the leases of running processes. */
const omitted = ['migrations', 'sql_functions', 'leases']

/** Settings under which values have the same text on every server. */
export const portableTexts =
  "SET LOCAL timezone = 'UTC'; SET LOCAL datestyle = 'ISO'; SET LOCAL intervalstyle = 'postgres'"

/** Runs `work` in a transaction that sees PostgreSQL as it is at the first query. */
export const inSnapshot = <T>(
  postgres: Postgres,
  work: (snapshot: Queryable) => Promise<T>,
): Promise<T> =>
  inTransaction(postgres, async (client) => {
    await client.query(
      `SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY; ${portableTexts}`,
    )
    return work(client)
  })

/** Writes all our tables as a snapshot sees them, except those of background jobs. */
export async function dumpPostgres(
  snapshot: Queryable,
  writer: ObjectWriter,
): Promise<PostgresManifest> {
  const { rows: migrations } = await snapshot.query<{ name: string }>(
    'SELECT name FROM migrations ORDER BY name',
  )
  const tables: PostgresTable[] = []
  for (const table of await readTables(snapshot))
    tables.push(await dumpTable(snapshot, table, writer))
  return {
    migrations: migrations.map(({ name }) => name),
    tables,
    sequences: await readSequences(snapshot),
  }
}

interface Table extends Pick<PostgresTable, 'name' | 'columns'> {
  key: string[]
}

async function readTables(client: Queryable): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `SELECT relname AS name, json_agg(json_build_object(
         'name', attname, 'type', format_type(atttypid, atttypmod)) ORDER BY attnum) AS columns,
       coalesce((SELECT json_agg(key.attname ORDER BY key_position)
         FROM pg_index, unnest(indkey) WITH ORDINALITY AS keys (attnum, key_position)
           JOIN pg_attribute key USING (attnum)
         WHERE indrelid = pg_class.oid AND indisprimary AND key.attrelid = indrelid), '[]') AS key
     FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
     WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND relname <> ALL($1)
       AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
     GROUP BY relname, pg_class.oid ORDER BY relname`,
    [omitted],
  )
  return rows
}

async function readSequences(client: Queryable): Promise<PostgresManifest['sequences']> {
  const { rows } = await client.query<{ name: string; last_value: string }>(
    `SELECT sequencename AS name, last_value::text FROM pg_sequences
     WHERE schemaname = current_schema() AND last_value IS NOT NULL ORDER BY 1`,
  )
  return rows
}

async function dumpTable(
  client: Queryable,
  { name, columns, key }: Table,
  writer: ObjectWriter,
): Promise<PostgresTable> {
  const texts = columns.map((column) => `${quoted(column.name)}::text`).join(', ')
  const order = key.length > 0 ? `ORDER BY ${key.map(quoted).join(', ')}` : ''
  await client.query(
    `DECLARE lines NO SCROLL CURSOR FOR
     SELECT to_json(ARRAY[${texts}])::text AS line FROM ${quoted(name)} ${order}`,
  )
  const table: PostgresTable = { name, columns, rows: 0, objects: [] }
  for await (const lines of cut(linesOf(client))) {
    table.rows += lines.length
    table.objects.push(await writer.save('postgres', gzipSync(`${lines.join('\n')}\n`)))
  }
  await client.query('CLOSE lines')
  return table
}

async function* linesOf(client: Queryable): AsyncGenerator<string> {
  for (;;) {
    const { rows } = await client.query<{ line: string }>(`FETCH ${batchRows} FROM lines`)
    if (rows.length === 0) return
    for (const { line } of rows) yield line
  }
}

const cutRows = 4_096
const cutCharsMax = objectBytesMax / 4

/**
 * Cuts a table after rows whose checksum is a multiple of `cutRows`. So a row that is added or changed changes only the
 * piece around it, and the other pieces equal those of the last backup.
 */
async function* cut(lines: AsyncIterable<string>): AsyncGenerator<string[]> {
  let piece: string[] = []
  let chars = 0
  for await (const line of lines) {
    piece.push(line)
    chars += line.length
    if (chars < cutCharsMax && crc32(line) % cutRows !== 0) continue
    yield piece
    piece = []
    chars = 0
  }
  if (piece.length > 0) yield piece
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
