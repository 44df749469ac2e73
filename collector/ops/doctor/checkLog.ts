import type { StreamInfo } from '@nats-io/jetstream'
import type { NatsSettings } from '../../config.ts'
import { type NatsLink, openNatsLink } from '../../ingest/nats/natsLink.ts'
import { ownerLease } from '../../ingest/nats/natsShipping.ts'
import { readProgress } from '../../ingest/nats/progress.ts'
import { allStreams, infoOf } from '../../ingest/nats/streams.ts'
import { openPostgres } from '../../platform/postgres/pool.ts'
import { type Finding, finding } from './finding.ts'

const connectMsMax = 5_000

/** Checks the replicated log: its servers, the replicas of each stream, and whether a collector consumes it. */
export async function examineLog(
  settings: NatsSettings | null,
  postgresUrl: string,
): Promise<Finding[]> {
  if (!settings) return []
  const link = await openNatsLink(settings.servers)
  const postgres = openPostgres(postgresUrl, () => {})
  try {
    if (!(await isConnected(link)))
      return [finding('NATS cannot be reached', 'check NATS_URL and the servers')]
    const { manager } = await link.ready()
    const names = allStreams(settings).map(({ name }) => name)
    const infos = await Promise.all(names.map((name) => infoOf(manager, name)))
    const missing = names.filter((_, at) => !infos[at])
    const { rowCount: owners } = await postgres.query(
      'SELECT FROM leases WHERE name = $1 AND expires_at > now()',
      [ownerLease(settings)],
    )
    const progress = await Promise.all(names.map((name) => readProgress(postgres, name)))
    const waiting = infos.reduce(
      (sum, info, at) => sum + Math.max(0, (info?.state.last_seq ?? 0) - progress[at]!.committed),
      0,
    )
    return [
      finding('NATS answers'),
      finding(
        `${names.length} streams`,
        missing.length > 0 ? `start a collector, which creates ${missing.join(', ')}` : null,
      ),
      examineReplicas(infos),
      finding(
        `${waiting} messages of the log wait for ClickHouse`,
        owners === 0 ? 'start a collector: none consumes the log' : null,
      ),
    ]
  } finally {
    await Promise.all([link.close(), postgres.end()])
  }
}

/** Checks whether all servers have their copies, and names the others. */
function examineReplicas(infos: readonly (StreamInfo | null)[]): Finding {
  const counts = new Map<string, number>()
  for (const info of infos)
    for (const { name, current, offline } of info?.cluster?.replicas ?? [])
      if (offline || !current) counts.set(name, (counts.get(name) ?? 0) + 1)
  if (counts.size === 0) return finding('all streams have their replicas')
  const servers = [...counts].map(([name, streams]) => `${name} (${streams} streams)`).sort()
  return finding(
    'replicas of the log are offline or behind',
    `check the NATS servers ${servers.join(', ')}`,
  )
}

function isConnected(link: NatsLink): Promise<boolean> {
  return Promise.race([
    link.ready().then(
      () => true,
      () => false,
    ),
    new Promise<boolean>((resolve) => setTimeout(resolve, connectMsMax, false).unref()),
  ])
}
