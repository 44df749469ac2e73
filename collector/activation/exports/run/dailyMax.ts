import { mailOwners } from '../../../platform/outbox/mails.ts'
import { visitorText } from '../../../platform/outbox/visitorText.ts'
import type { Postgres } from '../../../platform/postgres/pool.ts'
import { inTransaction } from '../../../platform/postgres/transaction.ts'
import { Refused } from './charge.ts'
import type { RunState } from './runState.ts'

const today = "date_trunc('day', now(), 'UTC')"

/**
 * Throws Refused if `records` more could exceed the daily maximum of an export's scheduled runs. The owners get a mail once
 * a UTC day. Runs that somebody requests are not limited.
 */
export async function requireDailyMax(
  postgres: Postgres,
  { exportId, exportName, organizationId, requestedBy }: RunState,
  records: number,
): Promise<void> {
  if (requestedBy !== exportId) return
  // The charges of today, because a run may begin before midnight.
  const { rows } = await postgres.query<{ most: number; charged: number }>(
    `SELECT daily_records_max::float8 AS most, (
       SELECT coalesce(sum(records), 0) FROM usage_by_caller
       WHERE organization_id = $2 AND day = (${today} AT TIME ZONE 'UTC')::date AND caller_id = $1)::float8 AS charged
     FROM exports WHERE export_id = $1`,
    [exportId, organizationId],
  )
  const { most, charged } = rows[0]!
  if (charged + records <= most) return
  const reason = `The scheduled runs of the export charge at most ${most} records a UTC day (daily_records_max), and have charged ${charged} today. Raise daily_records_max, or request a run.`
  await inTransaction(postgres, async (client) => {
    const { rowCount } = await client.query(
      `UPDATE exports SET daily_max_noted_on = (${today} AT TIME ZONE 'UTC')::date
       WHERE export_id = $1 AND daily_max_noted_on IS DISTINCT FROM (${today} AT TIME ZONE 'UTC')::date`,
      [exportId],
    )
    if (rowCount === 0) return
    const name = visitorText(exportName)
    await mailOwners(client, organizationId, {
      subject: 'A scheduled export reached its daily maximum',
      text: `${name ? `“${name}” (${exportId})` : exportId} stopped.\n${reason}\n`,
    })
  })
  throw new Refused(reason)
}
