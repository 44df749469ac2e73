import { repeat } from '../platform/jobs/repeat.ts'
import type { Postgres } from '../platform/postgres/pool.ts'

const everyMs = 60_000

/** What may go: a bucket that is full again counts like one that nobody has used. */
const deletions = [
  'DELETE FROM rate_limits WHERE arrival < extract(epoch FROM clock_timestamp())',
  'DELETE FROM sessions WHERE expires_at <= now()',
  'DELETE FROM password_resets WHERE expires_at <= now()',
]

/** Deletes what has expired, every minute, as long as the primary process runs. */
export const startAccountsChores = (
  postgres: Postgres,
  log: { warn(message: string): void },
): { stop(): Promise<void> } =>
  repeat(
    everyMs,
    () => deleteExpired(postgres),
    (error) => log.warn(`accounts chores wait a minute: ${error.message}`),
  )

export async function deleteExpired(postgres: Postgres): Promise<void> {
  for (const deletion of deletions) await postgres.query(deletion)
}
