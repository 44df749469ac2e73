import type { StreamInfo } from '@nats-io/jetstream'
import type { NatsSettings } from '../../config.ts'
import { connectionRefusal, openNatsLink } from '../../ingest/nats/natsLink.ts'
import { ownerLease } from '../../ingest/nats/natsShipping.ts'
import { readProgress } from '../../ingest/nats/progress.ts'
import { allStreams, infoOf } from '../../ingest/nats/streams.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { askAll, type Finding, finding } from './finding.ts'

/** Checks the replicated log: its servers, the replicas of each stream, and whether a collector consumes it. */
export async function examineLog(
  settings: NatsSettings | null,
  postgres: Postgres | null,
): Promise<Finding[]> {
  if (!settings) return []
  return askAll('NATS', 'NATS_URL', async () => {
    const refusal = await connectionRefusal(settings.servers)
    return refusal === null
      ? examineStreams(settings, postgres)
      : [finding('NATS refuses or does not answer', refusal)]
  })
}

async function examineStreams(
  settings: NatsSettings,
  postgres: Postgres | null,
): Promise<Finding[]> {
  const link = await openNatsLink(settings.servers)
  try {
    const { manager } = await link.ready()
    const names = allStreams(settings).map(({ name }) => name)
    const infos = await Promise.all(names.map((name) => infoOf(manager, name)))
    const missing = names.filter((_, at) => !infos[at])
    return [
      finding('NATS answers'),
      finding(
        `${names.length} streams`,
        missing.length > 0 ? `start a collector, which creates ${missing.join(', ')}` : null,
      ),
      examineReplicas(infos),
      ...(postgres ? [await examineConsumer(postgres, settings, infos)] : []),
    ]
  } finally {
    // A connection that hangs must not keep the check from its end.
    void link.close()
  }
}

/** Compares the streams with the progress that the consumer stores in PostgreSQL. */
async function examineConsumer(
  postgres: Postgres,
  settings: NatsSettings,
  infos: readonly (StreamInfo | null)[],
): Promise<Finding> {
  const { rowCount: owners } = await postgres.query(
    'SELECT FROM leases WHERE name = $1 AND expires_at > now()',
    [ownerLease(settings)],
  )
  const names = allStreams(settings).map(({ name }) => name)
  const progress = await Promise.all(names.map((name) => readProgress(postgres, name)))
  const waiting = infos.reduce(
    (sum, info, at) => sum + Math.max(0, (info?.state.last_seq ?? 0) - progress[at]!.committed),
    0,
  )
  return finding(
    `${waiting} messages of the log wait for ClickHouse`,
    owners === 0 ? 'start a collector: none consumes the log' : null,
  )
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
