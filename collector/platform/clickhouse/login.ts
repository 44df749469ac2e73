import { StartError } from '../startError.ts'
import { ClickHouseRefused } from '../storeErrors.ts'
import type { ClickHouse } from './client.ts'
import { isAccessDenied } from './grants.ts'

/**
 * Dictionaries read their tables as a user of ClickHouse, which requires a password. Backups would contain a
 * password in a definition, and a new password would not reach it. So it is in a named collection, which is
 * not part of the database.
 */
export interface DictionaryLogin {
  /** Null if no password is required. */
  readonly collection: string | null
}

const collectionIsImmutable = 670

/** The named collections of a database: who reads at the server itself, and who at the first shard. */
export const collectionNames = (database: string) => ({
  own: `${database}_login`,
  firstShard: `${database}_first_shard_login`,
})

/**
 * Writes the user and password of `url` to a named collection, that of the database unless another is named, whatever they were before. A login that
 * may not write named collections needs one of that name in the server's configuration. The user "default" without a
 * password needs none.
 */
export async function saveDictionaryLogin(
  clickhouse: ClickHouse,
  url: string,
  collection = collectionNames(clickhouse.database).own,
): Promise<DictionaryLogin> {
  const { username, password } = new URL(url)
  const user = decodeURIComponent(username) || 'default'
  if (user === 'default' && password === '') return { collection: null }
  const values = `user = ${quoted(user)} NOT OVERRIDABLE, password = ${quoted(decodeURIComponent(password))} NOT OVERRIDABLE`
  try {
    await clickhouse.command({
      sql: `CREATE NAMED COLLECTION IF NOT EXISTS ${collection} AS ${values}`,
      params: {},
    })
    await clickhouse.command({
      sql: `ALTER NAMED COLLECTION ${collection} SET ${values}`,
      params: {},
    })
  } catch (error) {
    if (!(await isKeptByOperator(clickhouse, collection, error))) throw error
  }
  return { collection }
}

/**
 * Whether the collection is in the server's configuration. Throws the missing grant without any collection.
 */
async function isKeptByOperator(
  clickhouse: ClickHouse,
  collection: string,
  error: unknown,
): Promise<boolean> {
  if (error instanceof ClickHouseRefused && error.code === collectionIsImmutable) return true
  if (!isAccessDenied(error)) return false
  const [found] = await clickhouse.rows({
    sql: 'SELECT name FROM system.named_collections WHERE name = {collection:String}',
    params: { collection },
  })
  if (found) return true
  throw new StartError(
    `the login of CLICKHOUSE_URL cannot write the named collection ${collection}, which dictionaries use. Run GRANT NAMED COLLECTION ADMIN ON ${collection}, or define it in the server's configuration`,
  )
}

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
