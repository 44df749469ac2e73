import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'

interface Reached {
  version: string
}

type State<Found extends Reached> = { is_reachable: boolean; latency_ms: number | null } & {
  [Name in keyof Found]: Found[Name] | null
}

/**
 * Returns the state that a store reports, or nothing if it does not answer. Never throws, because operators
 * call it during outages.
 */
async function stateOf<Found extends Reached>(
  names: readonly (keyof Found)[],
  ask: () => Promise<Found>,
): Promise<State<Found>> {
  const startedAt = performance.now()
  const status = await ask().catch(() => null)
  const nothing = Object.fromEntries(names.map((name) => [name, null]))
  const latency_ms = status && Math.round((performance.now() - startedAt) * 10) / 10
  return { ...nothing, ...status, is_reachable: status !== null, latency_ms } as State<Found>
}

interface ClickHouseFound extends Reached {
  uptime_seconds: number
  events: number
  disk_free_bytes: number
  disk_bytes: number
}

export const readClickHouse = (clickhouse: ClickHouse): Promise<State<ClickHouseFound>> =>
  stateOf(['version', 'uptime_seconds', 'events', 'disk_free_bytes', 'disk_bytes'], async () => {
    const [found] = await clickhouse.rows<ClickHouseFound>({
      sql: `SELECT version() AS version, toUInt32(uptime()) AS uptime_seconds, (SELECT count() FROM events) AS events,
              filesystemAvailable() AS disk_free_bytes, filesystemCapacity() AS disk_bytes`,
      params: {},
    })
    return found!
  })

interface PostgresFound extends Reached {
  size_bytes: number
  connections: number
  connections_max: number
}

export const readPostgres = (postgres: Postgres): Promise<State<PostgresFound>> =>
  stateOf(['version', 'size_bytes', 'connections', 'connections_max'], async () => {
    const { rows } = await postgres.query<PostgresFound>(
      `SELECT current_setting('server_version') AS version,
         pg_database_size(current_database())::float8 AS size_bytes,
         (SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database()) AS connections,
         current_setting('max_connections')::int AS connections_max`,
    )
    return rows[0]!
  })

interface Sample {
  labels: Record<string, string>
  value: number
}

/** The samples of a metric in Prometheus text. Our label values need no escapes. */
export function readSamples(text: string, metric: string): Sample[] {
  const samples: Sample[] = []
  for (const line of text.split('\n')) {
    if (!line.startsWith(`${metric}{`)) continue
    const end = line.indexOf('} ')
    if (end < 0) continue
    const labels = [...line.slice(metric.length + 1, end).matchAll(/(\w+)="([^"]*)"/g)]
    samples.push({
      labels: Object.fromEntries(labels.map(([, name, value]) => [name!, value!])),
      value: Number(line.slice(end + 2)),
    })
  }
  return samples
}
