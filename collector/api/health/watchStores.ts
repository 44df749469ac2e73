import { setTimeout as delay } from 'node:timers/promises'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { runEvery } from '../../platform/runEvery.ts'

const watchMs = 2_000
const answerMsMax = 5_000

/** Checks both stores regularly, and reports changes: the description of the unavailable store, or null. */
export function watchStores(
  { postgres, clickhouse }: { postgres: Postgres; clickhouse: ClickHouse },
  changed: (away: string | null) => void,
): { stop(): Promise<void> } {
  let lastState: string | null = null
  return runEvery(
    watchMs,
    async () => {
      const [postgresIsThere, clickhouseIsThere] = await Promise.all([
        answersInTime(postgres.query('SELECT 1').then(() => true)),
        answersInTime(clickhouse.ping()),
      ])
      const away = awayText([
        ...(postgresIsThere ? [] : ['PostgreSQL']),
        ...(clickhouseIsThere ? [] : ['ClickHouse']),
      ])
      if (away !== lastState) changed(away)
      lastState = away
    },
    () => {},
  )
}

/** Returns false if the answer takes longer than `msMax`, or fails. */
export const answersInTime = (answer: Promise<boolean>, msMax = answerMsMax): Promise<boolean> =>
  Promise.race([answer, delay(msMax, false, { ref: false })]).catch(() => false)

const awayText = (stores: readonly string[]): string | null =>
  stores.length > 0 ? `${stores.join(' and ')} cannot be reached` : null
