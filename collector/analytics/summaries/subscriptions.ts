import type { Postgres } from '../../platform/postgres/pool.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { type TimeZone, timeZoneOrUtc } from '../../platform/timeZone.ts'
import type { Frequency, Period } from './periods.ts'

/** Returns the frequency with which a member receives the figures of a project; null: never. */
export async function readFrequency(
  client: Queryable,
  projectId: string,
  memberId: string,
): Promise<Frequency | null> {
  const { rows } = await client.query<{ frequency: Frequency | null }>(
    'SELECT frequency FROM summary_subscriptions WHERE project_id = $1 AND member_id = $2',
    [projectId, memberId],
  )
  return rows[0]?.frequency ?? null
}

/** Sets the frequency. A new frequency begins with the current period. */
export async function setFrequency(
  client: Queryable,
  projectId: string,
  memberId: string,
  frequency: Frequency | null,
): Promise<void> {
  await client.query(
    `INSERT INTO summary_subscriptions AS subscription (project_id, member_id, frequency) VALUES ($1, $2, $3)
     ON CONFLICT (project_id, member_id) DO UPDATE SET frequency = $3, since = now(), told_period = NULL
       WHERE subscription.frequency IS DISTINCT FROM $3`,
    [projectId, memberId, frequency],
  )
}

/** Ends a subscription for any caller; a repeat has no effect. */
export async function endSubscription(client: Queryable, subscriptionId: string): Promise<void> {
  await client.query(
    'UPDATE summary_subscriptions SET frequency = NULL WHERE subscription_id = $1',
    [subscriptionId],
  )
}

export interface DueSummary {
  subscription_id: string
  project_id: string
  project_name: string
  organization_id: string
  /** The last sent period. */
  told_period: string | null
}

/** $1 is the frequency, $2 the period's first day, $3 its end. Former members get no mail. */
const isDue = `
  subscription.frequency = $1 AND subscription.since < $3
  AND (subscription.told_period IS NULL OR subscription.told_period < $2)
  AND (member.role <> 'member' OR EXISTS (
    SELECT FROM project_members
    WHERE project_members.project_id = subscription.project_id AND project_members.member_id = member.member_id))`

const boundTo = (frequency: Frequency, { firstDay, endMs }: Period) => [
  frequency,
  firstDay,
  new Date(endMs),
]

export async function listZones(postgres: Postgres, frequency: Frequency): Promise<TimeZone[]> {
  const { rows } = await postgres.query<{ time_zone: string }>(
    `SELECT DISTINCT time_zone FROM summary_subscriptions JOIN projects USING (project_id) WHERE frequency = $1`,
    [frequency],
  )
  return rows.map(({ time_zone }) => timeZoneOrUtc(time_zone))
}

/** Reads the unsent summaries of a period, of projects in its zone, grouped by project. */
export async function listDue(
  postgres: Postgres,
  frequency: Frequency,
  period: Period,
): Promise<DueSummary[]> {
  const { rows } = await postgres.query<DueSummary>(
    `SELECT subscription_id, project_id, project.name AS project_name, project.organization_id,
       told_period::text AS told_period
     FROM summary_subscriptions AS subscription JOIN members AS member USING (member_id)
       JOIN projects AS project USING (project_id)
     WHERE ${isDue} AND project.time_zone = $4 ORDER BY project_id, subscription_id`,
    [...boundTo(frequency, period), period.zone.name],
  )
  return rows
}

/**
 * Claims a summary to send it, for only one of several callers, and finally. If the process ends afterwards,
 * the summary is not sent and never sent again. Resolves with the address, or with null if it is claimed or
 * no longer subscribed.
 */
export async function claim(
  postgres: Postgres,
  frequency: Frequency,
  period: Period,
  subscriptionId: string,
): Promise<string | null> {
  const { rows } = await postgres.query<{ email: string }>(
    `UPDATE summary_subscriptions AS subscription SET told_period = $2
     FROM members AS member
     WHERE subscription_id = $4 AND member.member_id = subscription.member_id AND ${isDue}
       AND (member.user_id IS NOT NULL OR member.provider_subject IS NOT NULL)
     RETURNING member.email`,
    [...boundTo(frequency, period), subscriptionId],
  )
  return rows[0]?.email ?? null
}

/** Releases a claimed summary that was certainly not sent. */
export async function release(
  postgres: Postgres,
  { subscription_id, told_period }: DueSummary,
  { firstDay }: Period,
): Promise<void> {
  await postgres.query(
    'UPDATE summary_subscriptions SET told_period = $3 WHERE subscription_id = $1 AND told_period = $2',
    [subscription_id, firstDay, told_period],
  )
}
