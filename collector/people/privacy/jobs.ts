import { repeat } from '../../platform/jobs/repeat.ts'
import { carryOutErasures, type ErasureDeps } from './erasures.ts'
import { syncToClickHouse } from './optOuts.ts'
import { deleteExpired } from './retention.ts'

const lookEveryMs = 1_000
/** How often an erasure is gone over until it is finished. */
const eraseEveryMs = 3_000
const retentionEveryMs = 3_600_000

/** What the primary process does for privacy: the opt-out list, erasures, and how long pixels' events are kept. */
export function startPrivacyJobs(
  deps: ErasureDeps,
  log: { warn(message: string): void },
): { stop(): Promise<void> } {
  const { postgres, clickhouse } = deps
  let seen = 0
  let erasedAt = 0
  const erase = async () => {
    const { rows } = await postgres.query<{ unfinished: number }>(
      'SELECT count(*)::int AS unfinished FROM erasures WHERE finished_at IS NULL',
    )
    const { unfinished } = rows[0]!
    if (unfinished > 0 && (unfinished > seen || Date.now() - erasedAt > eraseEveryMs)) {
      await carryOutErasures(deps)
      erasedAt = Date.now()
    }
    seen = unfinished
  }
  const look = async () => {
    await syncToClickHouse(postgres, clickhouse)
    await erase()
  }
  const looking = repeat(lookEveryMs, look, (error) => log.warn(`privacy waits a second: ${error.message}`))
  const expiring = repeat(
    retentionEveryMs,
    () => deleteExpired(postgres, clickhouse),
    (error) => log.warn(`what is not kept any longer is not deleted yet: ${error.message}`),
  )
  return {
    async stop() {
      await Promise.all([looking.stop(), expiring.stop()])
    },
  }
}
