import { ClickHouseRefused } from '../storeErrors.ts'
import type { ClickHouse } from './client.ts'
import { type ClickHouseAddress, isSharded } from './cluster.ts'
import { addressesOfFirstShard } from './distributed.ts'
import type { DictionaryLogin } from './login.ts'
import { normalForms } from './normalForm.ts'
import { readStatements } from './statements.ts'

/** An object without rows, which can be replaced completely. */
interface Definition {
  readonly name: string
  readonly statement: string
  readonly isView: boolean
  /** The part to compare: for a view only its SELECT, because ClickHouse adds column types to the rest. */
  readonly compared: string
}

interface DefinitionsOf {
  /** The login that dictionaries use on this server. */
  readonly login: DictionaryLogin
  /** The login that dictionaries of other shards use on the first shard. */
  readonly firstLogin: DictionaryLogin
  /** From 0. The first shard holds all sources of views and dictionaries; other shards query it. */
  readonly shard: number
  readonly address: ClickHouseAddress
}

/** The views and tables that are sources of dictionaries. */
const sources = [
  'counting_links',
  'counting_links_lately',
  'profile_rows',
  'company_networks',
  'shared_people',
  'opted_out_keys',
] as const

/** Each file depends only on the files before it. */
const files = ['people', 'views', 'dictionaries'].map((name) => `definitions/${name}.sql`)

/**
 * Creates the views and dictionaries of definitions/*.sql, and replaces those that differ from these files.
 * Other objects stay unchanged.
 */
export async function syncDefinitions(clickhouse: ClickHouse, of: DefinitionsOf): Promise<void> {
  const { collection } = of.login
  const values = {
    database: clickhouse.database,
    login: collection === null ? '' : `NAME ${collection}`,
    ...(await sourcesOf(clickhouse, of)),
  }
  const wanted = files
    .flatMap((file) => readStatements(file, values))
    .map(definitionOf)
    .filter(({ isView }) => of.shard === 0 || !isView)
  const present = await clickhouse.rows<{ name: string; compared: string }>({
    sql: `SELECT name, if(engine = 'View', as_select, create_table_query) AS compared FROM system.tables
          WHERE database = currentDatabase() AND engine IN ('View', 'Dictionary')`,
  })
  const compared = new Map(present.map((object) => [object.name, object.compared]))
  const found = wanted.map(({ name }) => compared.get(name) ?? '')
  const forms = await normalForms(clickhouse, [
    ...wanted.map((definition) => definition.compared),
    ...found.map((query) => query || 'SELECT 0'),
  ])
  for (const [index, { statement }] of wanted.entries()) {
    if (found[index] !== '' && forms[index] === forms[wanted.length + index]) continue
    await clickhouse.command({ sql: statement.replace(/^CREATE/, 'CREATE OR REPLACE') })
  }
}

/**
 * Reloads the dictionaries whose last load failed, because ClickHouse waits before it retries. If a reload
 * fails again, queries that use the dictionary report the error.
 */
export async function reloadFailedDictionaries(clickhouse: ClickHouse): Promise<void> {
  const failed = await clickhouse.rows<{ name: string }>({
    sql: "SELECT name FROM system.dictionaries WHERE database = currentDatabase() AND last_exception != ''",
  })
  for (const { name } of failed) {
    await clickhouse.command({ sql: `SYSTEM RELOAD DICTIONARY ${name}` }).catch((error) => {
      if (!(error instanceof ClickHouseRefused)) throw error
    })
  }
}

/** Returns the sources of dictionaries: tables of this server, or remote tables of the first shard. */
async function sourcesOf(
  clickhouse: ClickHouse,
  { firstLogin, shard, address }: DefinitionsOf,
): Promise<Record<string, string>> {
  const { database } = clickhouse
  if (shard === 0 || !isSharded(address)) {
    return Object.fromEntries(sources.map((name) => [name, `${database}.${name}`]))
  }
  const at = await addressesOfFirstShard(clickhouse, address)
  // The single quotes are doubled because the text is inside the quoted QUERY.
  const remote = (name: string) =>
    firstLogin.collection === null
      ? `remote(''${at}'', ''${database}'', ''${name}'')`
      : `remote(${firstLogin.collection}, addresses_expr = ''${at}'', database = ''${database}'', table = ''${name}'')`
  return Object.fromEntries(sources.map((name) => [name, remote(name)]))
}

function definitionOf(statement: string): Definition {
  const [head, kind, name] = /^CREATE (VIEW|DICTIONARY) \w+\.(\w+)(?: AS)?\s/.exec(statement)!
  return {
    name: name!,
    statement,
    isView: kind === 'VIEW',
    compared: kind === 'VIEW' ? statement.slice(head.length) : statement,
  }
}
