/** Restore of the output of dumpPostgres.ts. */
import { gunzipSync } from 'node:zlib'
import { makeTablesOf, migratePostgres } from '../../platform/postgres/migrate.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import { StartError } from '../../platform/startError.ts'
import { portableTexts, quoted } from './dumpPostgres.ts'
import type { PostgresManifest, PostgresTable } from './manifest.ts'
import { type ObjectStore, readObject } from './objectStore.ts'

const batchRows = 1_000
const batchCharsMax = 8 * 1024 * 1024

export async function requireEmptyPostgres(postgres: Postgres): Promise<void> {
  const { rowCount } = await postgres.query(
    "SELECT FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace LIMIT 1",
  )
  if (rowCount !== 0)
    throw new StartError('PostgreSQL already has tables: restore into an empty database')
}

/**
 * Restores the output of dumpPostgres into an empty database in one transaction, and upgrades it to this
 * version's schema. Throws StartError if this version cannot upgrade the backup.
 */
export async function loadPostgres(
  postgres: Postgres,
  dump: PostgresManifest,
  store: ObjectStore,
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
    for (const table of dump.tables) await loadTable(client, table, store)
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
  { name, columns, rows, objects }: PostgresTable,
  store: ObjectStore,
): Promise<void> {
  const names = columns.map((column) => quoted(column.name)).join(', ')
  const values = columns.map(({ type }, index) => `(line->>${index})::${type}`).join(', ')
  const insert = `INSERT INTO ${quoted(name)} (${names}) OVERRIDING SYSTEM VALUE
    SELECT ${values} FROM json_array_elements($1::json) AS line`
  let loaded = 0
  for (const object of objects) {
    const text = String(gunzipSync(await readObject(store, 'objects', object)))
    for (const lines of batchesOf(text)) {
      await client.query(insert, [`[${lines.join(',')}]`])
      loaded += lines.length
    }
  }
  if (loaded !== rows)
    throw new StartError(
      `the backup has ${loaded} rows of ${name}, and should have ${rows}: it is damaged`,
    )
}

function* batchesOf(text: string): Generator<string[]> {
  let lines: string[] = []
  let chars = 0
  for (const line of text.split('\n')) {
    if (line === '') continue
    lines.push(line)
    chars += line.length
    if (lines.length < batchRows && chars < batchCharsMax) continue
    yield lines
    lines = []
    chars = 0
  }
  if (lines.length > 0) yield lines
}
