import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { companyFields, eventColumns, type Field, profileFields } from '../../../schemas/fields.ts'
import { fileOf, migrationsOf, requireKnownMigrations } from '../knownMigrations.ts'
import { StartError } from '../startError.ts'
import type { ClickHouse } from './client.ts'
import { type ClickHouseAddress, eventsTable, isReplicated, isSharded } from './cluster.ts'
import { columnDefinition, syncColumns } from './columns.ts'
import { reloadFailedDictionaries, syncDefinitions } from './definitions.ts'
import { requireLayout, syncDistributed } from './distributed.ts'
import { isAccessDenied, lacksGrant } from './grants.ts'
import { collectionNames, saveDictionaryLogin } from './login.ts'
import { openClickHouse } from './openClickHouse.ts'
import { syncProfileRows } from './profileRows.ts'
import { replicated } from './replicated.ts'
import { readSchemaFile, schemaDirectory, statementsOf } from './statements.ts'
import { syncTopics } from './topics.ts'

const triesMax = 5
const retryMs = 200

export interface SchemaNode {
  readonly url: string
  readonly clickhouse: ClickHouse
  /** From 0. The first shard has all tables; the others have only events. */
  readonly shard: number
}

/**
 * Creates `database` and upgrades its schema on every server; no other code changes ClickHouse's schema. It
 * applies missing numbered migrations to tables. It compares replaceable objects, and the columns of the
 * field table, with the required state.
 *
 * Several processes may run it at once, and repeatedly. Every statement is repeatable, a migration is
 * recorded only after its last statement, and conflicting processes retry. Throws if ClickHouse is
 * unavailable or refuses. Throws StartError if this version cannot upgrade the database, or if the login
 * lacks a grant, which it names.
 */
export async function migrateClickHouse(
  address: ClickHouseAddress,
  database: string,
): Promise<void> {
  const nodes = openNodes(address, database)
  try {
    await onEach(nodes, ({ url }) => makeDatabase(url, database))
    for (let tried = 1; ; tried++) {
      try {
        return await migrate(nodes, address)
      } catch (error) {
        if (isAccessDenied(error)) throw lacksGrant(error)
        if (tried === triesMax || error instanceof StartError) throw error
        await delay(retryMs * tried)
      }
    }
  } finally {
    await closeNodes(nodes)
  }
}

/**
 * Creates the tables of these migrations on empty servers. A later migrateClickHouse applies the rest. Throws StartError
 * if this version cannot upgrade such a database.
 */
export async function makeTablesOf(
  address: ClickHouseAddress,
  database: string,
  names: readonly string[],
): Promise<void> {
  requireUpgradable(names)
  const nodes = openNodes(address, database)
  try {
    await onEach(nodes, ({ url }) => makeDatabase(url, database))
    await runMigrations(nodes, address, (name) => names.includes(name))
  } catch (error) {
    throw isAccessDenied(error) ? lacksGrant(error) : error
  } finally {
    await closeNodes(nodes)
  }
}

/** Opens a separate connection to each server. */
export const openNodes = (address: ClickHouseAddress, database: string): SchemaNode[] =>
  (typeof address === 'string' ? [[address]] : address.shards).flatMap((urls, shard) =>
    urls.map((url) => ({ url, clickhouse: openClickHouse(url, database), shard })),
  )

export const closeNodes = (nodes: readonly SchemaNode[]): Promise<unknown> =>
  Promise.all(nodes.map(({ clickhouse }) => clickhouse.close()))

/** Runs `work` on one server after another. With several servers, an error names the server. */
export async function onEach<T>(
  nodes: readonly SchemaNode[],
  work: (node: SchemaNode) => Promise<T>,
): Promise<T[]> {
  const results: T[] = []
  for (const node of nodes) {
    try {
      results.push(await work(node))
    } catch (error) {
      if (nodes.length > 1)
        (error as Error).message = `${hostOf(node)}: ${(error as Error).message}`
      throw error
    }
  }
  return results
}

/** Returns the host of a server, without its password. */
export const hostOf = ({ url }: Pick<SchemaNode, 'url'>): string => new URL(url).host

export async function makeDatabase(url: string, database: string): Promise<void> {
  const server = openClickHouse(url, 'default')
  try {
    await server.command({ sql: `CREATE DATABASE IF NOT EXISTS ${database}` })
  } catch (error) {
    throw isAccessDenied(error) ? lacksGrant(error) : error
  } finally {
    await server.close()
  }
}

async function migrate(nodes: readonly SchemaNode[], address: ClickHouseAddress): Promise<void> {
  const logins = await onEach(nodes, async ({ clickhouse, url, shard }) => {
    await requireLayout(clickhouse, address)
    const { firstShard } = collectionNames(clickhouse.database)
    return {
      login: await saveDictionaryLogin(clickhouse, url),
      firstLogin:
        shard > 0
          ? await saveDictionaryLogin(clickhouse, nodes[0]!.url, firstShard)
          : { collection: null },
    }
  })
  await runMigrations(nodes, address)
  await onEach(nodes, async (node) => {
    const { clickhouse, shard } = node
    await syncDefinitions(clickhouse, { ...logins[nodes.indexOf(node)]!, shard, address })
    await reloadFailedDictionaries(clickhouse)
    await syncColumns(clickhouse, eventsTable(address), eventColumns)
  })
  await onEach(nodes, async ({ clickhouse, shard }) => {
    // Reads reach a new shard from here on, so it must have its tables and dictionaries.
    if (isSharded(address)) await syncDistributed(clickhouse, address)
    if (shard > 0) return
    await syncColumns(clickhouse, 'profiles', profileFields)
    await syncProfileRows(clickhouse)
    await syncTopics(clickhouse)
  })
}

/** The migrations of this version, in order. */
export const migrationNames = (): string[] => migrationsOf(join(schemaDirectory, 'migrations'))

/** Throws StartError if this version cannot upgrade a server with these migrations. */
export const requireUpgradable = (names: Iterable<string>): void =>
  requireKnownMigrations('ClickHouse', migrationNames(), names)

/**
 * Marks the table of a server's own events in a migration. A statement with this mark changes only that
 * table.
 */
const eventsMark = '{events}'

/**
 * Returns the statements of a migration for a shard: all for the first shard, only those about events for
 * others. Keeper has the tables of a migration in a folder with the name of its file.
 */
export const migrationStatements = (
  name: string,
  address: ClickHouseAddress,
  shard: number,
): string[] =>
  statementsOf(readSchemaFile(`migrations/${fileOf(name)}`), tableValues)
    .filter((statement) => shard === 0 || statement.includes(eventsMark))
    .map((statement) => statement.replaceAll(eventsMark, eventsTable(address)))
    .map((statement) =>
      isReplicated(address) ? replicated(statement, fileOf(name).replace(/\.sql$/, '')) : statement,
    )

/**
 * Runs each migration on every server before the next one, so all replicas are created by the same steps.
 */
async function runMigrations(
  nodes: readonly SchemaNode[],
  address: ClickHouseAddress,
  isMeant: (name: string) => boolean = () => true,
): Promise<void> {
  const names = migrationNames().filter(isMeant)
  const found = await onEach(nodes, async ({ clickhouse }) => {
    const recorded = await recordedMigrations(clickhouse)
    requireUpgradable(recorded)
    return recorded
  })
  for (const name of names) {
    await onEach(nodes, async (node) => {
      if (found[nodes.indexOf(node)]!.has(name)) return
      const statements = migrationStatements(name, address, node.shard)
      for (const sql of statements) await node.clickhouse.command({ sql })
      await node.clickhouse.command({
        sql: 'INSERT INTO migrations (name) VALUES ({name:String})',
        params: { name },
      })
    })
  }
}

async function recordedMigrations(clickhouse: ClickHouse): Promise<Set<string>> {
  await clickhouse.command({
    sql: 'CREATE TABLE IF NOT EXISTS migrations (name String, applied_at DateTime DEFAULT now()) ENGINE = ReplacingMergeTree ORDER BY name',
  })
  const rows = await clickhouse.rows<{ name: string }>({
    sql: 'SELECT name FROM migrations',
  })
  return new Set(rows.map(({ name }) => name))
}

/**
 * Returns the column definitions, without fields that are computed on read: these need dictionaries, which
 * are created later.
 */
const storedColumns = (fields: readonly Field[]): string =>
  fields
    .filter(({ alias }) => !alias)
    .map(columnDefinition)
    .join(',\n    ')

const tableValues = {
  event_columns: storedColumns(eventColumns),
  profile_columns: storedColumns(profileFields),
  company_columns: storedColumns(companyFields.filter(({ name }) => name !== 'company_domain')),
}
