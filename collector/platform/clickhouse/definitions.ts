import { type ClickHouse, ClickHouseRefused } from './client.ts'
import { normalForms } from './normalForm.ts'
import { readStatements } from './statements.ts'

/** What has no rows of its own, so that it can be replaced as a whole. */
interface Definition {
  readonly name: string
  /** Creates it where it is not there. */
  readonly statement: string
  /** What is compared: of a view its SELECT, for ClickHouse adds the columns' types to the rest. */
  readonly compared: string
}

const files = ['definitions/views.sql', 'definitions/dictionaries.sql']

/**
 * Makes the views and dictionaries of definitions/*.sql, and replaces those that are other than these files say. What
 * is as it should be is left alone.
 */
export async function syncDefinitions(
  clickhouse: ClickHouse,
  values: Readonly<Record<string, string>>,
): Promise<void> {
  const wanted = files.flatMap((file) => readStatements(file, values)).map(definitionOf)
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
    await clickhouse.command({ sql: `SYSTEM RELOAD DICTIONARY ${name}`, params: {} }).catch((error) => {
      if (!(error instanceof ClickHouseRefused)) throw error
    })
  }
}

function definitionOf(statement: string): Definition {
  const [head, kind, name] = /^CREATE (VIEW|DICTIONARY) \w+\.(\w+)(?: AS)?\s/.exec(statement)!
  return { name: name!, statement, compared: kind === 'VIEW' ? statement.slice(head.length) : statement }
}
