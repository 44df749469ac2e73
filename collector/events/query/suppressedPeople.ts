import { hemAsNumber } from '../../../schemas/fields.ts'
import { personOf } from '../../identity/store/personSql.ts'
import { optedOutHems } from '../../identity/store/profileSql.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import type { Bind } from './bind.ts'
import { chunked } from './chunked.ts'

/**
 * SQL that selects the hem numbers of people who are not to be shown to an organization, whatever builds say: they have
 * opted out, or are to be erased (`erased`, hems).
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

/** SQL: whether a person, known by one of their hem numbers, is hidden by any of their addresses. */
export const isSuppressed = (hemNumber: string, hidden: string): string =>
  `${personOf(hemNumber)} IN (SELECT ${personOf('hem_number')} FROM (${hidden}))`

/** Hems of the people who are to be erased, by the organization or everywhere, and of whom something may be left. */
export async function erasedHems(client: Queryable, organizationId: string): Promise<string[]> {
  const { rows } = await client.query<{ hem: string }>(
    `SELECT hem FROM erasures
     WHERE finished_at IS NULL AND hem IS NOT NULL AND (organization_id IS NULL OR organization_id = $1)`,
    [organizationId],
  )
  return rows.map(({ hem }) => hem)
}
