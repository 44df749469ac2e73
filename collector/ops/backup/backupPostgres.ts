/**
 * Backup of PostgreSQL as text. Each table is a file of JSON lines, one for each row, with PostgreSQL's own
 * text of each value. `pg_dump` is not an option: npm does not provide it, and it must not be older than the
 * server.
 */
import { createReadStream, createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import {
  makeTablesOf,
  migratePostgres,
  requireUpgradable,
} from '../../platform/postgres/migrate.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import { StartError } from '../../platform/startError.ts'
import type { PostgresManifest, TableManifest } from './manifest.ts'

/** Rows per read from a table and per insert. */
const batchRows = 1_000
const batchCharsMax = 8 * 1024 * 1024

/** Tables that record the files of migrations and functions; the restore fills them again. */
const madeAnew = ['migrations', 'sql_functions']

/** Settings under which values have the same text on every server. */
const portableTexts =
  "SET LOCAL timezone = 'UTC'; SET LOCAL datestyle = 'ISO'; SET LOCAL intervalstyle = 'postgres'"

/** Writes all our tables, in one snapshot, to `directory`, except those of background jobs. */
export async function dumpPostgres(
  postgres: Postgres,
  directory: string,
): Promise<PostgresManifest> {
  return inTransaction(postgres, async (client) => {
    await client.query(
      `SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY; ${portableTexts}`,
    )
    const { rows: migrations } = await client.query<{ name: string }>(
      'SELECT name FROM migrations ORDER BY name',
    )
    const tables: TableManifest[] = []
    for (const table of await readTables(client)) {
      const rows = await dumpTable(client, table, fileOf(directory, table.name))
      tables.push({ ...table, rows })
    }
    return {
      migrations: migrations.map(({ name }) => name),
      tables,
      sequences: await readSequences(client),
    }
  })
}

type Table = Omit<TableManifest, 'rows'>

async function readTables(client: Queryable): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `SELECT relname AS name, json_agg(json_build_object(
         'name', attname, 'type', format_type(atttypid, atttypmod)) ORDER BY attnum) AS columns
     FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
     WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND relname <> ALL($1)
       AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
     GROUP BY relname ORDER BY relname`,
    [madeAnew],
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
  { name, columns }: Table,
  file: string,
): Promise<number> {
  const texts = columns.map((column) => `${quoted(column.name)}::text`).join(', ')
  await client.query(
    `DECLARE lines NO SCROLL CURSOR FOR SELECT to_json(ARRAY[${texts}])::text AS line FROM ${quoted(name)}`,
  )
  let count = 0
  const lines = async function* () {
    for (;;) {
      const { rows } = await client.query<{ line: string }>(`FETCH ${batchRows} FROM lines`)
      if (rows.length === 0) return
      count += rows.length
      yield rows.map(({ line }) => `${line}\n`).join('')
    }
  }
  await pipeline(
    Readable.from(lines()),
    createGzip(),
    createWriteStream(file, { mode: 0o600, flush: true }),
  )
  await client.query('CLOSE lines')
  return count
}

/** Throws StartError unless the database has no tables. */
export async function requireEmptyPostgres(postgres: Postgres): Promise<void> {
  const { rowCount } = await postgres.query(
    "SELECT FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace LIMIT 1",
  )
  if (rowCount !== 0)
    throw new StartError('PostgreSQL already has tables: restore into an empty database')
}

/**
 * Reads every table's file to its end. Throws StartError if one is missing or damaged, or if this version
 * cannot upgrade the backup.
 */
export async function requirePostgresPart(
  dump: PostgresManifest,
  directory: string,
): Promise<void> {
  requireUpgradable(dump.migrations)
  for (const { name, rows } of dump.tables) {
    const file = fileOf(directory, name)
    const found = await countLines(file).catch((error: Error) => {
      throw new StartError(`${file} cannot be read (${error.message}): the backup is damaged`)
    })
    if (found !== rows)
      throw new StartError(
        `${file} has ${found} rows, and should have ${rows}: the backup is damaged`,
      )
  }
}

async function countLines(file: string): Promise<number> {
  let count = 0
  for await (const line of linesOf(file)) {
    JSON.parse(line)
    count++
  }
  return count
}

/**
 * Restores the output of dumpPostgres into an empty database in one transaction, and upgrades it to this
 * version's schema. Throws StartError if this version cannot upgrade the backup.
 */
export async function loadPostgres(
  postgres: Postgres,
  dump: PostgresManifest,
  directory: string,
): Promise<void> {
  const client = await postgres.connect()
  try {
    await makeTablesOf(client, dump.migrations)
  } finally {
    client.release()
  }
  await inTransaction(postgres, async (client) => {
    await client.query(portableTexts)
    const names = dump.tables.map(({ name }) => quoted(name)).join(', ')
    // Deletes the rows that migrations inserted.
    await client.query(`TRUNCATE ${names}`)
    const restoreRules = await suspendRules(client)
    for (const table of dump.tables) await loadTable(client, table, fileOf(directory, table.name))
    await restoreRules()
    for (const { name, last_value } of dump.sequences)
      await client.query('SELECT setval($1::regclass, $2)', [quoted(name), last_value])
  })
  await migratePostgres(postgres)
}

/**
 * Disables triggers and reference checks, so that tables can be filled in any order. The returned function
 * enables them again, and checks the references of all rows.
 */
async function suspendRules(client: Queryable): Promise<() => Promise<void>> {
  const { rows: triggered } = await client.query<{ name: string }>(
    `SELECT DISTINCT tgrelid::regclass::text AS name FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
     WHERE NOT tgisinternal AND relnamespace = current_schema()::regnamespace`,
  )
  const { rows: strict } = await client.query<{ name: string; reference: string; rule: string }>(
    `SELECT conrelid::regclass::text AS name, quote_ident(conname) AS reference,
       CASE WHEN condeferrable THEN 'DEFERRABLE INITIALLY IMMEDIATE' ELSE 'NOT DEFERRABLE' END AS rule
     FROM pg_constraint WHERE contype = 'f' AND NOT condeferred AND connamespace = current_schema()::regnamespace`,
  )
  for (const { name } of triggered) await client.query(`ALTER TABLE ${name} DISABLE TRIGGER USER`)
  for (const { name, reference } of strict)
    await client.query(
      `ALTER TABLE ${name} ALTER CONSTRAINT ${reference} DEFERRABLE INITIALLY DEFERRED`,
    )
  return async () => {
    await client.query('SET CONSTRAINTS ALL IMMEDIATE')
    for (const { name, reference, rule } of strict)
      await client.query(`ALTER TABLE ${name} ALTER CONSTRAINT ${reference} ${rule}`)
    for (const { name } of triggered) await client.query(`ALTER TABLE ${name} ENABLE TRIGGER USER`)
  }
}

async function loadTable(
  client: Queryable,
  { name, columns, rows }: TableManifest,
  file: string,
): Promise<void> {
  const names = columns.map((column) => quoted(column.name)).join(', ')
  const values = columns.map(({ type }, index) => `(line->>${index})::${type}`).join(', ')
  const insert = `INSERT INTO ${quoted(name)} (${names}) OVERRIDING SYSTEM VALUE
    SELECT ${values} FROM json_array_elements($1::json) AS line`
  let loaded = 0
  for await (const lines of batchesOf(file)) {
    await client.query(insert, [`[${lines.join(',')}]`])
    loaded += lines.length
  }
  if (loaded !== rows)
    throw new StartError(
      `${file} has ${loaded} rows, and should have ${rows}: the backup is damaged`,
    )
}

async function* batchesOf(file: string): AsyncGenerator<string[]> {
  let lines: string[] = []
  let chars = 0
  for await (const line of linesOf(file)) {
    lines.push(line)
    chars += line.length
    if (lines.length < batchRows && chars < batchCharsMax) continue
    yield lines
    lines = []
    chars = 0
  }
  if (lines.length > 0) yield lines
}

/** Splits only at line feeds: node:readline also splits at other characters, which texts contain. */
async function* linesOf(file: string): AsyncGenerator<string> {
  let rest = ''
  const text = createGunzip().setEncoding('utf8')
  const reading = pipeline(createReadStream(file), text)
  // The consumer of the lines receives the error, so this handler ignores it.
  reading.catch(() => {})
  for await (const chunk of text) {
    const parts = (rest + chunk).split('\n')
    rest = parts.pop()!
    yield* parts
  }
  await reading
}

const fileOf = (directory: string, table: string): string => join(directory, `${table}.jsonl.gz`)

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
