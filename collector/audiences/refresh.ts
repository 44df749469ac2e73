import type { Postgres } from '../platform/postgres/pool.ts'
import { inTransaction } from '../platform/postgres/transaction.ts'
import { requestBuild } from './builds.ts'

/**
 * Requests builds of audiences with a schedule that have none since the hour, or the day (UTC), began. An
 * audience with a running build waits for its end.
 */
export async function requestDueBuilds(postgres: Postgres): Promise<void> {
  await inTransaction(postgres, async (client) => {
    // Several that looked at once would ask twice.
    await client.query("SELECT pg_advisory_xact_lock(hashtextextended('audiences.refresh', 0))")
    const { rows } = await client.query<{ audience_id: string }>(
      `SELECT audience_id FROM audiences
       CROSS JOIN LATERAL (
         SELECT requested_at, status FROM audience_builds WHERE audience_builds.audience_id = audiences.audience_id
         ORDER BY number DESC LIMIT 1
       ) AS newest
       WHERE refresh <> 'manual' AND newest.status IN ('completed', 'failed')
         AND newest.requested_at < date_trunc(CASE refresh WHEN 'hourly' THEN 'hour' ELSE 'day' END, now(), 'UTC')`,
    )
    for (const { audience_id } of rows) await requestBuild(client, audience_id)
  })
}
