import { StartError } from '../startError.ts'
import { ClickHouseRefused } from '../storeErrors.ts'
import type { ClickHouse } from './client.ts'
import { isAccessDenied } from './grants.ts'
import { sqlText } from './statements.ts'

/**
 * The login with which dictionaries read their tables. A password in a definition would be in backups, and a
 * new password would not update it. So the password is in a named collection, which is not part of the
 * database.
 */
export interface DictionaryLogin {
  /** Null if no password is required. */
  readonly collection: string | null
}

const collectionIsImmutable = 670

/**
 * Returns the names of a database's named collections: one for this server's login, one for the first
 * shard's.
 */
export const collectionNames = (database: string) => ({
  own: `${database}_login`,
  firstShard: `${database}_first_shard_login`,
})

/**
 * Writes the user and password of `url` to a named collection, by default the database's own, and replaces
 * earlier values. If the login may not write named collections, the server's configuration must define one of
 * that name. The user "default" without a password needs none.
 */
export async function saveDictionaryLogin(
  clickhouse: ClickHouse,
  url: string,
  collection = collectionNames(clickhouse.database).own,
): Promise<DictionaryLogin> {
  const { username, password } = new URL(url)
  const user = decodeURIComponent(username) || 'default'
  if (user === 'default' && password === '') return { collection: null }
  const values = `user = ${sqlText(user)} NOT OVERRIDABLE, password = ${sqlText(decodeURIComponent(password))} NOT OVERRIDABLE`
  try {
    await clickhouse.command({
      sql: `CREATE NAMED COLLECTION IF NOT EXISTS ${collection} AS ${values}`,
    })
    await clickhouse.command({
      sql: `ALTER NAMED COLLECTION ${collection} SET ${values}`,
    })
  } catch (error) {
    if (!(await isKeptByOperator(clickhouse, collection, error))) throw error
  }
  return { collection }
}

/**
 * Whether the server's configuration defines the collection. Throws StartError with the missing grant if the
 * collection does not exist.
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
