import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { Id, Nullable, strictObject, Timestamp } from '../../api/http/commonSchemas.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { readRecords } from '../../platform/postgres/records.ts'
import type { OperatorDeps } from './operatorDeps.ts'
import { requireOperator } from './operators.ts'

const Count = Type.Integer({ minimum: 0 })
const Store = {
  is_reachable: Type.Boolean(),
  version: Nullable(Type.String()),
  latency_ms: Nullable(Type.Number({ description: 'Response time of one small query.' })),
}

const OperatorStatus = Type.Object(
  {
    version: Type.String({ description: 'Of Footfall.' }),
    node_version: Type.String(),
    collectors: Type.Array(
      Type.Object({
        collector_id: Id,
        hostname: Type.String(),
        complete_until: Timestamp,
        lag_ms: Type.Number({
          description:
            'Time since the watermark in seconds: later events may not be stored yet. 0 after a complete stop.',
        }),
        released_at: Nullable(Timestamp, {
          description:
            'When the machine stopped with all its events stored; null while it receives events.',
        }),
        reported_at: Timestamp,
        is_shipping: Type.Boolean({
          description: 'Whether this machine holds the shipping lease.',
        }),
      }),
      { description: 'All machines that receive events.' },
    ),
    spool: Type.Array(
      Type.Object({ table: Type.String(), bytes: Count, oldest_seconds: Type.Number() }),
      {
        description: 'Events of the answering machine that are not in ClickHouse yet.',
      },
    ),
    jobs: Type.Array(Type.Object({ queue: Type.String(), state: Type.String(), count: Count })),
    clickhouse: Type.Object({
      ...Store,
      uptime_seconds: Nullable(Count),
      events: Nullable(Count),
      disk_free_bytes: Nullable(Type.Number()),
      disk_bytes: Nullable(Type.Number()),
    }),
    postgres: Type.Object({
      ...Store,
      size_bytes: Nullable(Type.Number()),
      connections: Nullable(Count),
      connections_max: Nullable(Count),
    }),
    last_backup: Nullable(
      Type.Object({
        backup_id: Type.String({ description: 'For `npx footfall-server restore --backup`.' }),
        place: Type.String({ description: 'A directory, or `s3://BUCKET/PREFIX`.' }),
        created_at: Timestamp,
        completed_at: Timestamp,
        complete_until: Nullable(Timestamp, {
          description: 'All events received before this time are in the backup.',
        }),
        verified_at: Type.String({
          format: 'date-time',
          description: 'When a backup last read all objects that it kept from earlier ones.',
        }),
        bytes: Count,
        damaged_objects: Type.Integer({
          minimum: 0,
          description: 'Damaged objects of earlier backups that this one replaced.',
        }),
      }),
      { description: 'Null if no backup was made.' },
    ),
  },
  { title: 'OperatorStatus' },
)

interface CollectorRow {
  collector_id: string
  hostname: string
  complete_until_ms: number
  reported_at: string
  released_at: string | null
  is_shipping: boolean
}

async function readLastBackup(postgres: Postgres) {
  const [backup] = await readRecords<NonNullable<Static<typeof OperatorStatus>['last_backup']>>(
    postgres,
    `SELECT backup_id, place, created_at, completed_at, complete_until, verified_at, bytes::float8 AS bytes, damaged_objects
     FROM last_backup`,
    [],
  )
  return backup ?? null
}

export const statusRoutes =
  ({ postgres, clickhouse, metrics, version }: OperatorDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/dashboard/operator/status',
      {
        config: { access: { to: 'session' } },
        schema: {
          tags: ['Dashboard'],
          operationId: 'getOperatorStatus',
          summary: 'Get the status of the service',
          description:
            'Requires an operator. Returns the collectors and their watermarks, the spool, background jobs, both stores, the last backup and versions.',
          querystring: strictObject({}),
          response: { 200: OperatorStatus },
        },
      },
      async ({ principal }) => {
        await requireOperator(postgres, principal)
        const [collectors, text, clickhouseState, postgresState, last_backup] = await Promise.all([
          readRecords<CollectorRow>(
            postgres,
            `SELECT collectors.collector_id, hostname, complete_until_ms::float8 AS complete_until_ms, reported_at, released_at,
               ship_leases.collector_id IS NOT NULL AS is_shipping
             FROM collectors LEFT JOIN ship_leases USING (collector_id) ORDER BY complete_until_ms, 1`,
            [],
          ),
          metrics(),
          readClickHouse(clickhouse.live),
          readPostgres(postgres),
          readLastBackup(postgres),
        ])
        const bytes = readSamples(text, 'footfall_spool_bytes')
        const oldest = readSamples(text, 'footfall_spool_oldest_seconds')
        return {
          version,
          node_version: process.version,
          collectors: collectors.map(({ complete_until_ms, ...collector }) => ({
            ...collector,
            complete_until: new Date(complete_until_ms).toISOString(),
            lag_ms: collector.released_at ? 0 : Math.max(0, Date.now() - complete_until_ms),
          })),
          spool: bytes.map(({ labels, value }) => ({
            table: labels.table!,
            bytes: value,
            oldest_seconds:
              oldest.find((sample) => sample.labels.table === labels.table)?.value ?? 0,
          })),
          jobs: readSamples(text, 'footfall_jobs')
            .filter(({ value }) => value > 0)
            .map(({ labels, value }) => ({
              queue: labels.queue!,
              state: labels.state!,
              count: value,
            })),
          clickhouse: clickhouseState,
          postgres: postgresState,
          last_backup,
        }
      },
    )
  }

interface Reached {
  version: string
}

type State<Found extends Reached> = { is_reachable: boolean; latency_ms: number | null } & {
  [Name in keyof Found]: Found[Name] | null
}

/** Returns the state that a store reports, or nothing if it does not answer. Never throws. */
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

const readClickHouse = (clickhouse: ClickHouse): Promise<State<ClickHouseFound>> =>
  stateOf(['version', 'uptime_seconds', 'events', 'disk_free_bytes', 'disk_bytes'], async () => {
    const [found] = await clickhouse.rows<ClickHouseFound>({
      sql: `SELECT version() AS version, toUInt32(uptime()) AS uptime_seconds, (SELECT count() FROM events) AS events,
              filesystemAvailable() AS disk_free_bytes, filesystemCapacity() AS disk_bytes`,
    })
    return found!
  })

interface PostgresFound extends Reached {
  size_bytes: number
  connections: number
  connections_max: number
}

const readPostgres = (postgres: Postgres): Promise<State<PostgresFound>> =>
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
function readSamples(text: string, metric: string): Sample[] {
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
