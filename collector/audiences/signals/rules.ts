import { wakeQueue } from '../../platform/jobs/queue.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'

/** The queue that counts organizations' own events by their rules. */
export const ownEvents = 'intent.own-events'

/** Values that a rule compares. Each is a pattern with % and _, like the operator like, ignoring case. */
export const rulePatterns = ['host', 'path', 'title', 'search'] as const

/**
 * Maximum number of rules of an organization: each pattern is a bound value, and ClickHouse accepts a
 * thousand.
 */
export const rulesMax = 100

/** An event that meets all patterns of a rule is one signal on its topic. */
export type Rule = { readonly topic: string } & {
  readonly [pattern in (typeof rulePatterns)[number]]?: string
}

/** An organization's rules. */
export interface Rules {
  readonly rules: readonly Rule[]
  /** 0 if there never were rules. */
  readonly version: number
  readonly updated_at: Date | null
}

const none: Rules = { rules: [], version: 0, updated_at: null }

export async function readRules(client: Queryable, organizationId: string): Promise<Rules> {
  const { rows } = await client.query<Rules>(
    'SELECT rules, version, updated_at FROM intent_rules WHERE organization_id = $1',
    [organizationId],
  )
  return rows[0] ?? none
}

/** Replaces an organization's rules, and returns them. All its days are counted again. */
export async function replaceRules(
  client: Queryable,
  organizationId: string,
  rules: readonly Rule[],
): Promise<Rules> {
  const { rows } = await client.query<Rules>(
    `INSERT INTO intent_rules (organization_id, rules) VALUES ($1, $2)
     ON CONFLICT (organization_id)
       DO UPDATE SET rules = excluded.rules, version = intent_rules.version + 1, updated_at = now()
     RETURNING rules, version, updated_at`,
    [organizationId, JSON.stringify(rules)],
  )
  await wakeQueue(client, ownEvents)
  return rows[0]!
}

/** Returns the organizations that have rules. */
export async function readOrganizationsWithRules(client: Queryable): Promise<string[]> {
  const { rows } = await client.query<{ organization_id: string }>(
    'SELECT organization_id FROM intent_rules ORDER BY organization_id',
  )
  return rows.map(({ organization_id }) => organization_id)
}
