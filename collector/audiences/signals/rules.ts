import { wakeQueue } from '../../platform/jobs/queue.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { type VersionedList, versionedLists } from '../../platform/postgres/versionedList.ts'

/** The queue that counts organizations' own events by their rules. */
export const ownEvents = 'intent.own-events'

/** Values that a rule compares. Each is a pattern with % and _, like the operator like, ignoring case. */
export const rulePatterns = ['host', 'path', 'title', 'search'] as const

/** Each pattern is a bound value, of which ClickHouse accepts a thousand. */
export const rulesMax = 100

/** An event that meets all patterns of a rule is one signal on its topic. */
export type Rule = { readonly topic: string } & {
  readonly [pattern in (typeof rulePatterns)[number]]?: string
}

export type Rules = VersionedList<'rules', Rule>

const ruleLists = versionedLists<'rules', Rule>('intent_rules', {
  owner: 'organization_id',
  list: 'rules',
})
export const readRules = ruleLists.read

/** Replaces an organization's rules, and returns them. All its days are counted again. */
export async function replaceRules(
  client: Queryable,
  organizationId: string,
  rules: readonly Rule[],
): Promise<Rules> {
  const replaced = await ruleLists.replace(client, organizationId, rules)
  await wakeQueue(client, ownEvents)
  return replaced
}

export async function readOrganizationsWithRules(client: Queryable): Promise<string[]> {
  const { rows } = await client.query<{ organization_id: string }>(
    'SELECT organization_id FROM intent_rules ORDER BY organization_id',
  )
  return rows.map(({ organization_id }) => organization_id)
}
