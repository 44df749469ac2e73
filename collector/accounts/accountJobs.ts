import type { ClickHouse } from '../platform/clickhouse/client.ts'
import { readCompleteUntil } from '../platform/collectors.ts'
import type { Queue } from '../platform/jobs/queue.ts'
import { emit } from '../platform/outbox/outbox.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import { inTransaction } from '../platform/postgres/transaction.ts'
import {
  type DeletionDeps,
  deleteRequestedEvents,
  eventDeletions,
} from './projects/eventDeletions.ts'

/** Rows to delete: a full bucket equals an unused one. */
const deletions = [
  'DELETE FROM rate_limits WHERE arrival < extract(epoch FROM clock_timestamp())',
  'DELETE FROM sessions WHERE expires_at <= now()',
  'DELETE FROM provider_sign_ins WHERE expires_at <= now()',
  'DELETE FROM password_resets WHERE expires_at <= now()',
  "DELETE FROM share_links WHERE expires_at <= now() - interval '30 days'",
  'DELETE FROM email_changes WHERE expires_at <= now()',
  "DELETE FROM second_factors WHERE confirmed_at IS NULL AND created_at < now() - interval '1 day'",
]

export async function deleteExpired(postgres: Postgres): Promise<void> {
  for (const deletion of deletions) await postgres.query(deletion)
}

/** Delay before the next check of a deletion that is not complete. */
const deleteAgainSeconds = 3

/**
 * The background jobs of accounts: delete expired rows and the events of deleted objects, report silent
 * pixels.
 */
export const adminQueues = (deps: DeletionDeps): Queue[] => [
  {
    name: 'admin.delete-expired',
    schedule: '* * * * *',
    run: () => deleteExpired(deps.postgres),
  },
  {
    name: eventDeletions,
    // Until a deletion is finished, this job deletes late events within a minute.
    schedule: '* * * * *',
    run: async () =>
      (await deleteRequestedEvents(deps)) ? { againInSeconds: deleteAgainSeconds } : undefined,
  },
  {
    name: 'admin.silent-pixels',
    schedule: '35 * * * *',
    run: () => tellSilentPixels(deps, Date.now()),
  },
]

/** A pixel that has sent events counts as silent after this time without an event. */
const silentHours = 24
/** After a longer gap between two checks, this service was down, and the period of silence restarts. */
const gapHours = 3
/** While older events wait to be stored, silence cannot be detected. */
const waitingMinutesMax = 10

/**
 * Finds the pixels that sent events since the last check. Reports each pixel once that sent none for a day,
 * until it sends events again. A day on which the service did not run does not count.
 */
export async function tellSilentPixels(
  { postgres, clickhouse }: { postgres: Postgres; clickhouse: ClickHouse },
  nowMs: number,
): Promise<void> {
  const now = new Date(nowMs)
  const completeUntil = await readCompleteUntil(postgres)
  if (completeUntil !== null && completeUntil < nowMs - waitingMinutesMax * 60_000) return
  const heard = await clickhouse.rows<{ pixel_id: string; last_ms: number }>({
    sql: `SELECT pixel_id, toUnixTimestamp64Milli(max(received_at)) AS last_ms FROM events
          WHERE received_at >= fromUnixTimestamp64Milli({fromMs:Int64}) GROUP BY pixel_id`,
    params: { fromMs: nowMs - (silentHours + gapHours) * 3_600_000 },
  })
  await inTransaction(postgres, async (client) => {
    await client.query(
      `INSERT INTO pixel_listening (since, last_at) VALUES ($1, $1) ON CONFLICT (is_only) DO UPDATE SET
         since = CASE WHEN pixel_listening.last_at < $1::timestamptz - $2 * interval '1 hour' THEN $1 ELSE pixel_listening.since END,
         last_at = $1`,
      [now, gapHours],
    )
    await client.query(
      `INSERT INTO pixel_voices (pixel_id, last_event_at)
       SELECT pixel_id, to_timestamp(last_ms / 1000.0)
       FROM jsonb_to_recordset($1) AS heard (pixel_id uuid, last_ms float8) JOIN pixels USING (pixel_id)
       ON CONFLICT (pixel_id) DO UPDATE SET last_event_at = excluded.last_event_at,
         silence_told_at = CASE WHEN excluded.last_event_at > pixel_voices.last_event_at
           THEN NULL ELSE pixel_voices.silence_told_at END`,
      [JSON.stringify(heard)],
    )
    const { rows } = await client.query<{
      organization_id: string
      project_id: string
      pixel_id: string
      name: string
      last_event_at: Date
    }>(
      `UPDATE pixel_voices AS voice SET silence_told_at = $1
       FROM pixel_listening, pixels JOIN projects USING (project_id)
       WHERE pixels.pixel_id = voice.pixel_id AND pixels.active AND silence_told_at IS NULL
         AND greatest(last_event_at, since) <= $1::timestamptz - $2 * interval '1 hour'
       RETURNING organization_id, pixels.project_id, voice.pixel_id, pixels.name, last_event_at`,
      [now, silentHours],
    )
    for (const { organization_id: organizationId, project_id: projectId, ...pixel } of rows) {
      await emit(client, {
        organizationId,
        projectId,
        type: 'pixel.silent',
        data: { ...pixel, project_id: projectId, last_event_at: pixel.last_event_at.toISOString() },
      })
    }
  })
}
