import type { WarnLog } from '../../platform/log.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'

const noteEveryMs = 60_000
const notedMax = 10_000

/** Returns a function that records the use of a key, at most once a minute, in the background. */
export function createRecordLastUsed(postgres: Postgres, log: WarnLog): (keyId: string) => void {
  const notedAt = new Map<string, number>()
  return (keyId) => {
    const now = Date.now()
    if (now - (notedAt.get(keyId) ?? 0) < noteEveryMs) return
    if (notedAt.size >= notedMax) notedAt.clear()
    notedAt.set(keyId, now)
    postgres
      .query(
        `UPDATE api_keys SET last_used_at = now()
         WHERE key_id = $1 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`,
        [keyId],
      )
      .catch((error: Error) =>
        log.warn({ error: error.message }, 'cannot record the last use of a key'),
      )
  }
}
