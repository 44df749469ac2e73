import type { Queue } from '../platform/jobs/queue.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import { tellSilentPixels } from './pixels/silentPixels.ts'
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
