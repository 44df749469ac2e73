import type { ClickHouse } from './client.ts'

/** Queries in the form in which ClickHouse keeps them, so that what is wanted can be compared with what is there. */
export async function normalForms(
  clickhouse: ClickHouse,
  queries: readonly string[],
): Promise<string[]> {
  const [row] = await clickhouse.rows<{ forms: string[] }>({
    sql: 'SELECT arrayMap(query -> formatQuerySingleLine(query), {queries:Array(String)}) AS forms',
    params: { queries },
  })
  return row!.forms
}
