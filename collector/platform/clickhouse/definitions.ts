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
  /** Creates it where it is not there. */
  readonly statement: string
  readonly isView: boolean
  /** The compared part: for a view its SELECT, because ClickHouse adds the columns’ types to the rest. */
  readonly compared: string
}

/** Whom definitions are made for. */
interface DefinitionsOf {
  /** Who reads the sources of dictionaries at the server itself. */
  readonly login: DictionaryLogin
  /** Who reads them at the first shard, for servers of others. */
  readonly firstLogin: DictionaryLogin
  /** From 0: the first has what views and dictionaries read; servers of others ask it. */
  readonly shard: number
  readonly address: ClickHouseAddress
}

/** The views and tables that dictionaries read. */
const sources = [
  'counting_links',
  'counting_links_lately',
  'profile_rows',
  'company_networks',
  'shared_people',
] as const

/** In the order in which their definitions need each other. */
const files = ['people', 'views', 'dictionaries'].map((name) => `definitions/${name}.sql`)

/**
 * Creates the views and dictionaries of definitions/*.sql, and replaces those that differ from these files.
 * Leaves all others unchanged.
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
    params: {},
  })
  const compared = new Map(present.map((object) => [object.name, object.compared]))
  const found = wanted.map(({ name }) => compared.get(name) ?? '')
  const forms = await normalForms(clickhouse, [
    ...wanted.map((definition) => definition.compared),
    ...found.map((query) => query || 'SELECT 0'),
  ])
  for (const [index, { statement }] of wanted.entries()) {
    if (found[index] !== '' && forms[index] === forms[wanted.length + index]) continue
    await clickhouse.command({ sql: statement.replace(/^CREATE/, 'CREATE OR REPLACE'), params: {} })
  }
}

/**
 * Has dictionaries that could not read their source try again, for ClickHouse itself does only after a while. Where one
 * fails once more, the reads that need it say why.
 */
export async function reloadFailedDictionaries(clickhouse: ClickHouse): Promise<void> {
  const failed = await clickhouse.rows<{ name: string }>({
    sql: "SELECT name FROM system.dictionaries WHERE database = currentDatabase() AND last_exception != ''",
    params: {},
  })
  for (const { name } of failed) {
    await clickhouse
      .command({ sql: `SYSTEM RELOAD DICTIONARY ${name}`, params: {} })
      .catch((error) => {
        if (!(error instanceof ClickHouseRefused)) throw error
      })
  }
}

/** The source of dictionaries: any server of the first shard, or tables of this one. */
async function sourcesOf(
  clickhouse: ClickHouse,
  { firstLogin, shard, address }: DefinitionsOf,
): Promise<Record<string, string>> {
  const { database } = clickhouse
  if (shard === 0 || !isSharded(address)) {
    return Object.fromEntries(sources.map((name) => [name, `${database}.${name}`]))
  }
  const at = await addressesOfFirstShard(clickhouse, address)
  // Inside the quotation marks of QUERY.
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
