import { StartError } from '../startError.ts'
import { ClickHouseRefused } from '../storeErrors.ts'
import type { ClickHouse } from './client.ts'

const accessDenied = 497

/** Whether ClickHouse refused a statement because a grant is missing. */
export const isAccessDenied = (error: unknown): error is ClickHouseRefused =>
  error instanceof ClickHouseRefused && error.code === accessDenied

export function lacksGrant({ message }: ClickHouseRefused): StartError {
  const grant = /necessary to have the grant (.+?)(?:\. |\.?$)/s.exec(message)?.[1]
  return new StartError(
    `the login of CLICKHOUSE_URL needs a grant of ClickHouse: ${grant ? `GRANT ${grant}` : message}; npx footfall-server doctor lists all missing grants`,
  )
}

/** Rights that Footfall needs. ClickHouse lists `GRANT ALL` as single rights, of which `needs` has those of our statements. */
interface RequiredGrant {
  readonly right: string
  readonly on: string
  readonly needs: readonly string[]
}

const rightsOfDatabase =
  'SELECT, INSERT, ALTER, CREATE DATABASE, CREATE TABLE, CREATE VIEW, CREATE DICTIONARY, DROP TABLE, DROP VIEW, DROP DICTIONARY, TRUNCATE, OPTIMIZE, dictGet'.split(
    ', ',
  )

const required = (right: string, on: string): RequiredGrant => ({ right, on, needs: [right] })

/**
 * Returns the statements with which an administrator lets the login use its databases and the named collections of its
 * dictionaries. Empty if the login has these rights. A collection that exists needs none: the operator may define it.
 */
export async function missingGrants(
  server: ClickHouse,
  databases: readonly string[],
  collections: readonly string[],
  isInCluster: boolean,
): Promise<string[]> {
  const defined = await server.rows<{ name: string }>({
    sql: 'SELECT name FROM system.named_collections',
  })
  const granted = (await server.rows<Record<string, string>>({ sql: 'SHOW GRANTS FINAL' })).flatMap(
    (row) => readGrant(Object.values(row)[0]!),
  )
  return [
    ...databases.map((database) => ({
      right: 'ALL',
      on: `${database}.*`,
      needs: rightsOfDatabase,
    })),
    ...collections
      .filter((collection) => !defined.some(({ name }) => name === collection))
      .map((collection) => required('NAMED COLLECTION ADMIN', collection)),
    required('TABLE ENGINE', '*'),
    required('SELECT', 'system.*'),
    required('SYSTEM RELOAD DICTIONARY', '*.*'),
    ...(isInCluster ? [required('READ', 'REMOTE')] : []),
  ]
    .filter(
      ({ on, needs }) =>
        !needs.every((need) =>
          granted.some((grant) => grant.rights.some(includes(need)) && covers(grant.on, on)),
        ),
    )
    .map(({ right, on }) => `GRANT ${right} ON ${on}`)
}

/** Reads a line of SHOW GRANTS: GRANT SELECT, INSERT ON footfall.* TO collector. */
function readGrant(line: string): { rights: string[]; on: string }[] {
  const [, rights, on] = /^GRANT (.+) ON (\S+) TO /.exec(line) ?? []
  if (!rights || !on) return []
  return [{ rights: rights.split(', ').map(nameOfRight), on: on.replaceAll('`', '') }]
}

/** ClickHouse lists the administration of all named collections as single rights. */
const nameOfRight = (right: string): string =>
  right === 'CREATE NAMED COLLECTION' ? 'NAMED COLLECTION ADMIN' : right

/** Whether a granted right includes the needed one: CREATE includes CREATE TABLE. */
const includes = (need: string) => (right: string) =>
  right === 'ALL' ||
  right === need ||
  (need.startsWith(`${right} `) && right !== 'NAMED COLLECTION')

/** Whether the object of a grant covers another one: *.* covers all. */
const covers = (granted: string, on: string): boolean =>
  granted === on || granted === '*.*' || granted === '*'
