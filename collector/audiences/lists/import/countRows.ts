import { hemNumber } from '../../../../schemas/fields.ts'
import { type Bind, bindings } from '../../../events/query/bind.ts'
import { isSuppressed, suppressedPeople } from '../../../events/query/profiles/suppressedPeople.ts'
import { hemsWithProfile } from '../../../identity/store/profileSql.ts'
import type { ClickHouse, Query } from '../../../platform/clickhouse/client.ts'
import type { RowCounts } from '../imports.ts'
import { columnOf, type Kind } from '../kinds.ts'

export interface Counted {
  readonly importId: string
  readonly listId: string
  readonly organizationId: string
  readonly kind: Kind
  readonly total: number
  /** Other imports of the list whose rows are not members (yet). */
  readonly notCompleted: readonly string[]
  /** Hems of people who are being erased. */
  readonly erased: readonly string[]
}

/** Most rows that one statement reads, which limits its memory. */
const rowsAtOnceMax = 2_000_000

/** Counts the outcomes of an import whose rows are all inserted. */
export async function countRows(
  clickhouse: ClickHouse,
  counted: Counted,
  rowsAtOnce = rowsAtOnceMax,
): Promise<RowCounts> {
  const { importId, listId, total } = counted
  const [counts] = await clickhouse.rows<{ rejected: number; others: number }>({
    sql: `SELECT
            (SELECT count() FROM list_rejected_lines FINAL
             WHERE list_id = {listId:UUID} AND import_id = {importId:UUID}) AS rejected,
            (SELECT count() FROM (SELECT 1 FROM list_members
             WHERE list_id = {listId:UUID} AND import_id != {importId:UUID}
               AND import_id NOT IN {notCompleted:Array(UUID)} LIMIT 1)) AS others`,
    params: { importId, listId, notCompleted: counted.notCompleted },
  })
  const { rejected, others } = counts!
  const rows = total - rejected
  const plan: Plan = { ...counted, hasOthers: others > 0 }
  const shares = Math.max(1, Math.ceil(rows / rowsAtOnce))
  let [members, matched] = [0, 0]
  for (let share = 0; share < shares; share++) {
    const [of] = await clickhouse.rows<{ members: number; matched: number }>(
      newMembersQuery(plan, share, shares),
    )
    members += of!.members
    matched += of!.matched
  }
  return { total, matched, unmatched: members - matched, duplicate: rows - members, rejected }
}

interface Plan extends Counted {
  /** Whether other imports have added members. */
  readonly hasOthers: boolean
}

/**
 * Selects how many members an import adds to its list, and how many of them are known, for one of several shares. A
 * member may be in several rows. A set of the members of a share takes less time than FINAL or GROUP BY.
 */
export function newMembersQuery(plan: Plan, share: number, shares: number): Query {
  const { importId, listId, kind, notCompleted } = plan
  const { bind, params } = bindings()
  const column = columnOf[kind]
  const isOfShare = shares === 1 ? () => 'true' : shareOf(column, share, shares)
  const [list, itself, others] = [
    bind('UUID', listId),
    bind('UUID', importId),
    bind('Array(UUID)', notCompleted),
  ]
  const rows = `list_members WHERE list_id = ${list} AND ${isOfShare(column)}`
  const added = `${rows} AND import_id = ${itself}`
  const key = keyOf[kind]
  return {
    sql: `SELECT uniqExact(${key}) AS members, uniqExactIf(${key}, ${isKnownOf[kind](added, plan, bind)}) AS matched
FROM ${added}
${plan.hasOthers ? `AND ${column} NOT IN (SELECT ${column} FROM ${rows} AND import_id != ${itself} AND import_id NOT IN ${others})` : ''}
SETTINGS max_memory_usage = ${1024 ** 3}, max_execution_time = 100`,
    params,
  }
}

/**
 * SQL that identifies members. For hems computed here half of the hem is enough, in two thirds of the time:
 * no two known addresses share it. Given hems are compared completely, because their senders may choose them.
 */
const keyOf: Readonly<Record<Kind, string>> = { ...columnOf, emails: 'toUInt128(hem_number)' }

type IsKnown = (
  added: string,
  counted: Pick<Counted, 'organizationId' | 'erased'>,
  bind: Bind,
) => string

/** A person whom a lookup returns: with a profile, and neither opted out nor being erased. */
const isKnownPerson: IsKnown = (added, { organizationId, erased }, bind) =>
  `hem_number IN (${hemsWithProfile(`SELECT hem_number FROM ${added}`)})
    AND NOT ${isSuppressed('hem_number', suppressedPeople(organizationId, erased, bind))}`

/**
 * SQL: whether an added row matches. People and companies match if a lookup returns them, browsers if the identity graph
 * resolves them to a person.
 */
const isKnownOf: Readonly<Record<Kind, IsKnown>> = {
  emails: isKnownPerson,
  hems: isKnownPerson,
  domains: (added) =>
    `company_domain IN (
      SELECT company_domain FROM companies WHERE company_domain IN (SELECT company_domain FROM ${added}))`,
  cookies: () => `${hemNumber} != 0`,
}

type IsOne = (item: string) => string

/**
 * Returns a condition for the items of a share. Hems are evenly distributed, so their shares are ranges of
 * the table's order.
 */
function shareOf(column: (typeof columnOf)[Kind], share: number, shares: number): IsOne {
  if (column !== 'hem_number') return (item) => `cityHash64(${item}) % ${shares} = ${share}`
  const limit = (of: number) => `toUInt256('${(2n ** 256n * BigInt(of)) / BigInt(shares)}')`
  return share === shares - 1
    ? (item) => `${item} >= ${limit(share)}`
    : (item) => `(${item} >= ${limit(share)} AND ${item} < ${limit(share + 1)})`
}
