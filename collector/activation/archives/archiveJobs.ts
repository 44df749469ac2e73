import { createCompleteUntil } from '../../events/query/window/completeUntil.ts'
import { hourMs } from '../../platform/days.ts'
import type { Queue } from '../../platform/jobs/queue.ts'
import type { WarnLog } from '../../platform/log.ts'
import { mailOwners } from '../../platform/outbox/mails.ts'
import { LeaseHeldError, withLease } from '../../platform/postgres/lease.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import {
  type ArchiveDeps,
  archiveHour,
  type DueArchive,
  isPlannedAgain,
  type Pause,
} from './archiveHour.ts'
import { cutoffOf } from './hourQuery.ts'

interface ArchiveJobsDeps extends ArchiveDeps {
  readonly log: WarnLog
}

const oneArchive = 'archives.hours'

/** The background jobs of archives: find due hours, and archive one after the other. */
export const archiveQueues = (deps: ArchiveJobsDeps): Queue[] => [
  {
    name: 'archives.begin',
    schedule: '* * * * *',
    async run({ send }) {
      for (const { archive_id } of await readDue(deps)) await send(oneArchive, archive_id)
    },
  },
  {
    name: oneArchive,
    concurrency: 2,
    timeoutSeconds: 900,
    run: ({ key, signal }) => archiveDueHours(deps, key!, signal),
  },
]

/** Longest time for one archive, so that others get their turn. */
const turnMs = 60_000

/** Archives due hours of an archive for a minute. The next minute continues, and repeats an hour that waits. */
export async function archiveDueHours(
  deps: ArchiveJobsDeps,
  archiveId: string,
  signal: AbortSignal,
): Promise<void> {
  const { postgres, log } = deps
  try {
    await withLease(postgres, `archive ${archiveId}`, async (lease) => {
      const either = AbortSignal.any([signal, lease.signal])
      const endsAt = performance.now() + turnMs
      while (!either.aborted && performance.now() < endsAt) {
        const [archive] = await readDue(deps, archiveId)
        if (!archive) return
        const pause = await archiveHour(deps, archive, either)
        if (pause === null) continue
        await notePause(postgres, archive, pause)
        return
      }
    })
  } catch (error) {
    if (error instanceof LeaseHeldError) return
    if (!isPlannedAgain(error)) throw error
    log.warn({ archive_id: archiveId, error: (error as Error).message }, 'an archive is repeated')
  }
}

/** Stores why an archive waits. Mails the owners when it begins to wait because of its daily maximum. */
async function notePause(
  postgres: Postgres,
  { archive_id, organization_id, paused_by }: DueArchive,
  { by, reason }: Pause,
): Promise<void> {
  await inTransaction(postgres, async (client) => {
    await client.query(
      'UPDATE archives SET paused_by = $2, paused_reason = $3 WHERE archive_id = $1',
      [archive_id, by, reason],
    )
    if (by !== 'daily_records_max' || paused_by === by) return
    await mailOwners(client, organization_id, {
      subject: 'An archive reached its daily maximum',
      text: `The archive ${archive_id} waits.\n${reason}\n`,
    })
  })
}

/** Reads the active archives, or one of them, whose next hour is complete. */
async function readDue(
  { postgres, now }: Pick<ArchiveJobsDeps, 'now'> & { postgres: Postgres },
  archiveId: string | null = null,
): Promise<DueArchive[]> {
  const nowMs = now()
  const completeUntil = await createCompleteUntil(postgres, () => nowMs)({ mode: 'live' })
  const untilMs = Math.min(completeUntil ?? nowMs, nowMs)
  const { rows } = await postgres.query<DueArchive>(
    `SELECT archive_id, organization_id, archives.project_id, integration_id,
       (extract(epoch FROM starts_at) * 1000)::float8 AS start_ms,
       (extract(epoch FROM next_hour) * 1000)::float8 AS next_ms,
       daily_records_max::float8 AS daily_records_max, paused_by
     FROM archives JOIN projects USING (project_id)
     WHERE active AND ($1::uuid IS NULL OR archive_id = $1) AND next_hour <= $2
     ORDER BY next_hour, archive_id LIMIT 1000`,
    [archiveId, new Date(untilMs - cutoffOf(0))],
  )
  return rows
}

export const hourOf = (ms: number): number => Math.floor(ms / hourMs) * hourMs
