import { knownPeople, profileCount } from '../../people/identity/profileSql.ts'
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
const rowsAtOnceMax = 2_000_000

/** What became of the rows of an import, all of which are inserted. */
export async function countRows(
  clickhouse: ClickHouse,
  counted: Counted,
  rowsAtOnce = rowsAtOnceMax,
): Promise<RowCounts> {
  const { importId, listId, kind, total } = counted
  const [found] = await clickhouse.rows<{ rejected: number; known: number; others: number }>({
    sql: `SELECT
            (SELECT count() FROM list_rejected_lines FINAL
             WHERE list_id = {listId:UUID} AND import_id = {importId:UUID}) AS rejected,
            (SELECT count() FROM (SELECT 1 FROM list_members
             WHERE list_id = {listId:UUID} AND ${isOthers} LIMIT 1)) AS others,
            ${sizeOfKnown[kind]} AS known`,
    params: { importId, listId, notCompleted: counted.notCompleted },
  })
  const { rejected, others, known } = found!
  const rows = total - rejected
  const plan: Plan = { ...counted, hasOthers: others > 0, isSmall: known < rows }
  const shares = Math.max(1, Math.ceil(rows / rowsAtOnce))
  let [members, matched] = [0, 0]
  for (let share = 0; share < shares; share++) {
    const [of] = await clickhouse.rows<{ members: number; matched: number }>(newMembers(plan, share, shares))
    members += of!.members
    matched += of!.matched
  }
  return { total, matched, unmatched: members - matched, duplicate: rows - members, rejected }
}

interface Plan extends Counted {
  /** Whether other imports have brought members. */
  readonly hasOthers: boolean
  /** Whether all that is known is less than the rows. */
  readonly isSmall: boolean
}

/** Rows that other imports have brought for good. */
const isOthers = 'import_id != {importId:UUID} AND import_id NOT IN {notCompleted:Array(UUID)}'

/**
 * How many members an import adds to its list, and how many of these are known; of one of several shares. A member may
 * stand in several rows; a set of those of a share takes less time than FINAL or GROUP BY. Of what is known and of the
 * rows the smaller is looked up in the other.
 */
function newMembers(plan: Plan, share: number, shares: number) {
  const { importId, listId, organizationId, kind, notCompleted } = plan
  const column = columnOf[kind]
  const isOfShare = shares === 1 ? () => 'true' : shareOf(column, share, shares)
  const rows = `list_members WHERE list_id = {listId:UUID} AND ${isOfShare(column)}`
  const ours = `SELECT ${column} FROM ${rows} AND import_id = {importId:UUID}`
  const areAsked = plan.isSmall ? isOfShare : (item: string) => `${item} IN (${ours})`
  const key = keyOf[kind]
  return {
    sql: `SELECT uniqExact(${key}) AS members, uniqExactIf(${key}, ${column} IN (${knownOf[kind](areAsked)})) AS matched
FROM ${rows} AND import_id = {importId:UUID}
${plan.hasOthers ? `AND ${column} NOT IN (SELECT ${column} FROM ${rows} AND ${isOthers})` : ''}
SETTINGS max_memory_usage = ${1024 ** 3}, max_execution_time = 100`,
    params: { importId, listId, organizationId, notCompleted },
  }
}

/**
 * SQL of what tells members apart. Half of a hem that was made here does, at two thirds of the time: no two addresses are
 * known that share it. Hems that are given are compared whole, for whoever gives them may choose them.
 */
const keyOf: Readonly<Record<Kind, string>> = { ...columnOf, emails: 'toUInt128(hem_number)' }

type IsOne = (item: string) => string

/** A condition under which an item is of a share. Hems are spread evenly, so theirs are ranges of the table's order. */
function shareOf(column: (typeof columnOf)[Kind], share: number, shares: number): IsOne {
  if (column !== 'hem_number') return (item) => `cityHash64(${item}) % ${shares} = ${share}`
  const limit = (of: number) => `toUInt256('${(2n ** 256n * BigInt(of)) / BigInt(shares)}')`
  return share === shares - 1
    ? (item) => `${item} >= ${limit(share)}`
    : (item) => `(${item} >= ${limit(share)} AND ${item} < ${limit(share + 1)})`
}

const organization = '{organizationId:UUID}'
const ofOrganization = `organization_id IN (${organization}, toUUID('00000000-0000-0000-0000-000000000000'))`

/** SQL that selects those items which are known, of those that a condition asks for. */
const knownOf: Readonly<Record<Kind, (areAsked: IsOne) => string>> = {
  emails: (areAsked) => knownPeople(organization, areAsked),
  hems: (areAsked) => knownPeople(organization, areAsked),
  domains: (areAsked) => `SELECT company_domain FROM companies WHERE ${areAsked('company_domain')}`,
  cookies: (areAsked) =>
    `SELECT cookie_id FROM followed_links WHERE ${ofOrganization} AND ${areAsked('cookie_id')}`,
}

const people = `(${profileCount}) + (SELECT count() FROM identity_links)`
/** SQL: about how many items of a kind are known. */
const sizeOfKnown: Readonly<Record<Kind, string>> = {
  ...{ emails: people, hems: people },
  ...{ domains: '(SELECT count() FROM companies)', cookies: '(SELECT count() FROM identity_links)' },
}
