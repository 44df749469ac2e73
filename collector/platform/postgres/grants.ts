import { StartError } from '../startError.ts'
import type { Queryable } from './transaction.ts'

/**
 * Returns the statements with which an administrator lets the login create our tables and, if missing, the
 * schema of background jobs. Empty if the login has these rights.
 */
export async function missingGrants(client: Queryable): Promise<string[]> {
  const { rows } = await client.query<{
    login: string
    database: string
    schema: string | null
    may_make_tables: boolean
    may_make_schema: boolean
  }>(
    `SELECT current_user AS login, current_database() AS database, current_schema() AS schema,
       coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS may_make_tables,
       to_regnamespace('pgboss') IS NOT NULL OR has_database_privilege(current_database(), 'CREATE') AS may_make_schema`,
  )
  const { login, database, schema, may_make_tables, may_make_schema } = rows[0]!
  return [
    ...(may_make_tables
      ? []
      : [`GRANT CREATE, USAGE ON SCHEMA ${schema ?? 'public'} TO "${login}"`]),
    ...(may_make_schema ? [] : [`GRANT CREATE ON DATABASE "${database}" TO "${login}"`]),
  ]
}

/** Throws StartError with the missing grants, if there are any. */
export async function requireGrants(client: Queryable): Promise<void> {
  const missing = await missingGrants(client)
  if (missing.length > 0)
    throw new StartError(
      `the login of DATABASE_URL needs a grant of PostgreSQL: ${missing.join('; ')}`,
    )
}
