import type { NatsSettings } from '../../config.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { StartError } from '../../platform/startError.ts'
import { openNatsLink } from './natsLink.ts'
import { readProgress } from './partitionLeases.ts'
import { infoOf, streamsOf } from './streams.ts'

/**
 * Records the number of partitions at the first start, and later refuses another one. It may grow while the log is
 * empty: an id that waits in one partition must not arrive in another. Throws StartError.
 */
export async function requirePartitions(postgres: Postgres, settings: NatsSettings): Promise<void> {
  const { prefix, partitions } = settings
  const { rows } = await postgres.query<{ partitions: number }>(
    `WITH first AS (
       INSERT INTO event_logs (prefix, partitions) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING partitions
     )
     SELECT partitions FROM first UNION ALL SELECT partitions FROM event_logs WHERE prefix = $1`,
    [prefix, partitions],
  )
  const recorded = rows[0]?.partitions ?? partitions
  if (recorded === partitions) return
  if (recorded > partitions)
    throw new StartError(
      `FOOTFALL_LOG_PARTITIONS must not be less than ${recorded}, the number of partitions of the log (got ${partitions})`,
    )
  if (!(await isEmpty(postgres, { ...settings, partitions: recorded })))
    throw new StartError(
      `FOOTFALL_LOG_PARTITIONS can grow from ${recorded} to ${partitions} when all messages are consumed. Start with ${recorded}, then stop all collectors in order.`,
    )
  await postgres.query(
    'UPDATE event_logs SET partitions = $2 WHERE prefix = $1 AND partitions < $2',
    [prefix, partitions],
  )
}

/** Whether ClickHouse has all messages, and no other machine consumes. */
async function isEmpty(postgres: Postgres, settings: NatsSettings): Promise<boolean> {
  const streams = streamsOf('events', settings)
  const names = streams.map(({ name }) => name)
  const link = await openNatsLink(settings.servers)
  try {
    const { manager } = await link.ready()
    const infos = await Promise.all(names.map((name) => infoOf(manager, name)))
    const { committed, doubtfulFrom } = await readProgress(postgres, names)
    const { rows } = await postgres.query<{ live: number }>(
      "SELECT count(*)::int AS live FROM event_log_consumers WHERE seen_at > clock_timestamp() - interval '10 seconds'",
    )
    return (
      rows[0]!.live === 0 &&
      doubtfulFrom === Infinity &&
      infos.every((info, at) => !info || info.state.last_seq <= committed[at]!)
    )
  } finally {
    await link.close()
  }
}
