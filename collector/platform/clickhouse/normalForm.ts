import type { ClickHouse } from './client.ts'

/** Queries in the normalized form of ClickHouse, so that required and existing ones can be compared. */
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
