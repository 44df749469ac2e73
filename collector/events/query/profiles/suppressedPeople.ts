import { hemAsNumber } from '../../../../schemas/fields.ts'
import { hemsOfPerson, personOf } from '../../../identity/store/personSql.ts'
import { optedOutHems } from '../../../identity/store/profileSql.ts'
import { chunked } from '../../../platform/clickhouse/chunked.ts'
import type { Queryable } from '../../../platform/postgres/transaction.ts'
import type { Bind } from '../bind.ts'

/**
 * SQL that selects the hem numbers of people whom an organization must not see, even if builds contain them.
 * They have opted out, or are being erased (`erased`, hems).
 */
export function suppressedPeople(
  organizationId: string,
  erased: readonly string[],
  bind: Bind,
): string {
  const hems = [
    optedOutHems(bind('UUID', organizationId)),
    ...chunked(erased).map((some) => `SELECT arrayJoin(${bind('Array(String)', some)}) AS hem`),
  ]
  return `SELECT ${hemAsNumber('hem')} AS hem_number FROM (${hems.join(' UNION ALL ')})`
}

/**
 * SQL that selects all hem numbers of these people. A scan of many members compares them with this set, which costs less
 * than to find the person of each.
 */
export const suppressedNumbers = (...people: Parameters<typeof suppressedPeople>): string =>
  `SELECT arrayJoin(${hemsOfPerson('hem_number')}) FROM (${suppressedPeople(...people)})`

/** SQL: whether a person, by one of their hem numbers, is hidden by any of their addresses. */
export const isSuppressed = (hemNumber: string, hidden: string): string =>
  `${personOf(hemNumber)} IN (SELECT ${personOf('hem_number')} FROM (${hidden}))`

/** Returns the hems of people with an unfinished erasure, by the organization or everywhere. */
export async function erasedHems(client: Queryable, organizationId: string): Promise<string[]> {
  const { rows } = await client.query<{ hem: string }>(
    `SELECT hem FROM erasures
     WHERE finished_at IS NULL AND hem IS NOT NULL AND (organization_id IS NULL OR organization_id = $1)`,
    [organizationId],
  )
  return rows.map(({ hem }) => hem)
}
