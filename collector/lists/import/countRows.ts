import { knownPeople } from '../../people/identity/profileSql.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { columnOf, type Kind } from '../kinds.ts'

/** The import whose rows are counted. */
export interface Counted {
  readonly importId: string
  readonly listId: string
  readonly organizationId: string
  readonly kind: Kind
  /** All of its rows. */
  readonly total: number
  /** Other imports of the list whose rows are no members, or not yet. */
  readonly notCompleted: readonly string[]
}

export interface RowCounts {
  readonly total: number
  /** New members of whom the identity graph, the companies or the links know. */
  readonly matched: number
  readonly unmatched: number
  /** Rows of a member that an earlier row, or the list, has already. */
  readonly duplicate: number
  readonly rejected: number
}

/** So many rows are looked at in one statement, so that its memory has a limit. */
const rowsAtOnce = 1_000_000

/** What became of the rows of an import, all of which are inserted. */
export async function countRows(clickhouse: ClickHouse, counted: Counted): Promise<RowCounts> {
  const { importId, listId, total } = counted
  const [found] = await clickhouse.rows<{ rejected: number }>({
    sql: `SELECT count() AS rejected FROM list_rejected_lines FINAL
          WHERE list_id = {listId:UUID} AND import_id = {importId:UUID}`,
    params: { importId, listId },
  })
  const { rejected } = found!
  const shares = Math.max(1, Math.ceil((total - rejected) / rowsAtOnce))
  let [members, matched] = [0, 0]
  for (let share = 0; share < shares; share++) {
    const [of] = await clickhouse.rows<{ members: number; matched: number }>(
      newMembers(counted, share, shares),
    )
    members += of!.members
    matched += of!.matched
  }
  return { total, matched, unmatched: members - matched, duplicate: total - rejected - members, rejected }
}

/** How many members an import adds to its list, and how many of these are known; of one of several shares. */
function newMembers(
  { importId, listId, organizationId, kind, notCompleted }: Counted,
  share: number,
  shares: number,
) {
  const column = columnOf[kind]
  const ofShare = shares === 1 ? '' : ` AND cityHash64(${column}) % ${shares} = ${share}`
  const ours = `SELECT ${column} FROM list_members WHERE list_id = {listId:UUID} AND import_id = {importId:UUID}${ofShare}`
  const others = `SELECT ${column} FROM list_members
    WHERE list_id = {listId:UUID} AND import_id != {importId:UUID} AND import_id NOT IN {notCompleted:Array(UUID)}${ofShare}`
  return {
    sql: `SELECT count() AS members, countIf(member IN (${known[kind](ours)})) AS matched
FROM (SELECT DISTINCT ${column} AS member FROM (${ours}))
WHERE member NOT IN (${others})
SETTINGS max_memory_usage = ${1024 ** 3}, max_execution_time = 100`,
    params: { importId, listId, organizationId, notCompleted },
  }
}

const organization = '{organizationId:UUID}'

/** SQL that selects those of the items which are known; `items` is SQL that selects them. */
const known: Readonly<Record<Kind, (items: string) => string>> = {
  emails: (items) => knownPeople(organization, items),
  hems: (items) => knownPeople(organization, items),
  domains: (items) => `SELECT company_domain FROM companies WHERE company_domain IN (${items})`,
  cookies: (items) => `SELECT cookie_id FROM followed_links
    WHERE organization_id IN (${organization}, toUUID('00000000-0000-0000-0000-000000000000'))
      AND cookie_id IN (${items})`,
}
