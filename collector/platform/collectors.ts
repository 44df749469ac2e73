import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Postgres } from './postgres/pool.ts'
import { inTransaction, type Queryable } from './postgres/transaction.ts'
import { aheadMsMax } from './sharedClock.ts'
import { StartError } from './startError.ts'

/** Returns the collector id of a data directory, which the first start creates. */
export function collectorIdOf(dataDir: string): string {
  const path = join(dataDir, 'collector_id')
  try {
    writeFileSync(path, randomUUID(), { flag: 'wx', mode: 0o600, flush: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  return readFileSync(path, 'utf8')
}

/**
 * Registers a collector before it receives anything. Resolves to its watermark, epoch milliseconds. All later
 * events must have this time or a later one, regardless of the collector's clock, because readers may have
 * read everything before it. A new or released one begins at PostgreSQL's time, because no reader has read
 * past it. Watermarks that are seconds ahead of PostgreSQL's clock come from a wrong clock. They are set back
 * to it, by `setBackMs`; 0 means none.
 */
export const registerCollector = (
  postgres: Postgres,
  collectorId: string,
): Promise<{ mark: number; setBackMs: number }> =>
  inTransaction(postgres, async (client) => {
    // Prevents that watermarks change between our read and our write.
    await client.query('LOCK TABLE collectors IN EXCLUSIVE MODE')
    const ahead = await client.query<{ ms: number }>(
      `WITH clock AS (SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms),
       ahead AS (
         SELECT collector_id, complete_until_ms - clock.ms AS by_ms FROM collectors, clock
         WHERE complete_until_ms > clock.ms + ${aheadMsMax}
       )
       UPDATE collectors SET complete_until_ms = least(complete_until_ms, floor(clock.ms))
       FROM ahead, clock
       WHERE collectors.collector_id = ahead.collector_id
       RETURNING ahead.by_ms::float8 AS ms`,
    )
    const { rows } = await client.query<{ mark: number }>(
      `INSERT INTO collectors (collector_id, hostname, complete_until_ms)
       VALUES ($1, $2, greatest(complete_until(), floor(extract(epoch FROM clock_timestamp()) * 1000)))
       ON CONFLICT (collector_id) DO UPDATE SET hostname = excluded.hostname, reported_at = now(), released_at = NULL,
         complete_until_ms = CASE WHEN collectors.released_at IS NULL THEN collectors.complete_until_ms
           ELSE excluded.complete_until_ms END
       RETURNING complete_until_ms::float8 AS mark`,
      [collectorId, hostname()],
    )
    return { mark: rows[0]!.mark, setBackMs: Math.max(0, ...ahead.rows.map(({ ms }) => ms)) }
  })

/** Publishes a collector's watermark, which decreases if ClickHouse has lost confirmed rows. */
export async function publishWatermark(
  postgres: Postgres,
  collectorId: string,
  mark: number,
): Promise<void> {
  await postgres.query(
    `INSERT INTO collectors (collector_id, hostname, complete_until_ms) VALUES ($1, $2, $3)
     ON CONFLICT (collector_id) DO UPDATE SET complete_until_ms = excluded.complete_until_ms,
       reported_at = now(), released_at = NULL`,
    [collectorId, hostname(), mark],
  )
}

/**
 * Releases the watermark of a collector that receives no more events and whose events are all in ClickHouse:
 * `complete_until` no longer waits for it. Its row stays, because erasures wait for its disk.
 */
export async function releaseCollector(postgres: Postgres, collectorId: string): Promise<void> {
  await postgres.query(
    `UPDATE collectors SET released_at = now(), reported_at = now(),
       complete_until_ms = greatest(complete_until_ms, floor(extract(epoch FROM clock_timestamp()) * 1000))
     WHERE collector_id = $1`,
    [collectorId],
  )
}

/**
 * Returns the time, epoch milliseconds, before which all received events are in ClickHouse. Null if no
 * machine collects.
 */
export async function readCompleteUntil(postgres: Queryable): Promise<number | null> {
  const { rows } = await postgres.query<{ mark: number | null }>(
    'SELECT complete_until()::float8 AS mark',
  )
  return rows[0]!.mark
}

/**
 * Publishes the time until which a collector has shipped its accepted events and removed dead letters of
 * erased people.
 */
export async function publishErasedUntil(
  postgres: Postgres,
  collectorId: string,
  mark: number,
): Promise<void> {
  await postgres.query('UPDATE collectors SET erased_until_ms = $2 WHERE collector_id = $1', [
    collectorId,
    Math.floor(mark),
  ])
}

/**
 * Returns the time until which all collectors have erased data, epoch milliseconds: no spool can return data
 * with an earlier erasure. Infinity if no machine collects. A lost collector delays it until it is retired.
 */
export async function readErasedUntil(postgres: Postgres): Promise<number> {
  const { rows } = await postgres.query<{ mark: number | null }>(
    'SELECT min(erased_until_ms)::float8 AS mark FROM collectors',
  )
  return rows[0]!.mark ?? Infinity
}

/** Prints the collectors (`footfall collectors list`). */
export async function listCollectors(postgres: Postgres): Promise<void> {
  const { rows } = await postgres.query<{
    collector_id: string
    hostname: string
    mark: number
    reported_at: Date
    is_released: boolean
  }>(
    `SELECT collector_id, hostname, complete_until_ms::float8 AS mark, reported_at, released_at IS NOT NULL AS is_released
     FROM collectors ORDER BY complete_until_ms, collector_id`,
  )
  for (const { collector_id, hostname, mark, reported_at, is_released } of rows) {
    const until = is_released
      ? 'stopped and complete'
      : `complete until ${new Date(mark).toISOString()}`
    console.log(`${collector_id} ${hostname}: ${until}, reported ${reported_at.toISOString()}`)
  }
}

/**
 * Retires a collector (`footfall-server collectors retire ID`): abandons its unshipped events, so that
 * complete_until no longer waits for it.
 */
export async function retireCollector(postgres: Postgres, collectorId: string): Promise<void> {
  const { rowCount } = await postgres.query(
    `DELETE FROM collectors WHERE collector_id::text = $1 AND reported_at < now() - interval '1 minute'`,
    [collectorId],
  )
  if (rowCount === 0) {
    const { rowCount: known } = await postgres.query(
      'SELECT FROM collectors WHERE collector_id::text = $1',
      [collectorId],
    )
    throw new StartError(
      known === 0
        ? `there is no collector ${collectorId}: npx footfall-server collectors list shows the ids`
        : `collector ${collectorId} reported within the last minute: stop it, wait a minute, and retire it again`,
    )
  }
  console.log(`collector ${collectorId} is retired: complete_until no longer waits for it`)
}
