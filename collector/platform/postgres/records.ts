import type { Queryable } from './transaction.ts'

/** Returns a row of PostgreSQL as a record of an answer, whose times are ISO 8601 texts. */
export const recordOf = <T>(row: object): T =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value instanceof Date ? value.toISOString() : value,
    ]),
  ) as T

/** Reads the records of an answer: the columns of the query are their members. */
export async function readRecords<T>(
  client: Queryable,
  sql: string,
  values: unknown[],
): Promise<T[]> {
  const { rows } = await client.query<Record<string, unknown>>(sql, values)
  return rows.map(recordOf<T>)
}
