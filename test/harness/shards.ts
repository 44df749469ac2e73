import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Cluster } from '../../collector/platform/clickhouse/cluster.ts'
import {
  type LocalClickHouse,
  startLocalClickHouse,
} from '../../collector/platform/clickhouse/local.ts'
import { storePassword } from '../../collector/platform/localStores/password.ts'
import { freePort } from '../../collector/platform/localStores/supervise.ts'
import { packageRoot } from '../../collector/platform/paths.ts'
import { waitFor } from './service.ts'

/** ClickHouse servers that are one cluster, a shard each, as on as many machines. */
export interface Shards {
  cluster: Cluster
  /** Content of all shards together. */
  database: string
  servers: LocalClickHouse[]
  /** The environment that names them. */
  env: Record<string, string>
  /** Kills a server. It starts again when the result is called. */
  takeAway(shard: number): Promise<() => void>
  stop(): Promise<void>
}

/**
 * Starts `count` real servers, with their data below `directory`; with `grants` our login has these alone.
 */
export async function startShards(
  directory: string,
  count: number,
  {
    onRestart = () => {},
    grants,
  }: {
    onRestart?: (reason: string) => void
    grants?: readonly string[]
  } = {},
): Promise<Shards> {
  const name = 'footfall'
  const database = 'footfall'
  const members = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const place = join(directory, `shard${index + 1}`)
      return {
        place,
        password: storePassword(join(place, 'password')),
        nativePort: await freePort(),
      }
    }),
  )
  const shards = members.map(
    ({ password, nativePort }) =>
      `<shard><internal_replication>true</internal_replication><replica><host>127.0.0.1</host><port>${nativePort}</port>
        <default_database>${database}</default_database><user>footfall</user><password>${password}</password></replica></shard>`,
  )
  const remoteServers = `<${name}>${shards.join('')}</${name}>`
  const servers = await Promise.all(
    members.map(({ place, nativePort }) =>
      startLocalClickHouse(
        place,
        onRestart,
        {},
        { member: { nativePort, remoteServers, ...(grants && { grants }) } },
      ),
    ),
  )
  const suspended = new Set<() => void>()
  const cluster = { name, shards: servers.map(({ url }) => [url]) }
  return {
    cluster,
    database,
    servers,
    env: {
      CLICKHOUSE_SHARDS: servers.map(({ url }) => url).join(','),
      CLICKHOUSE_CLUSTER: name,
      CLICKHOUSE_DATABASE: database,
    },
    async takeAway(shard) {
      const back = await takeAway(servers[shard]!)
      suspended.add(back)
      return () => {
        if (suspended.delete(back)) back()
      }
    },
    async stop() {
      for (const back of suspended) back()
      await Promise.all(servers.map((server) => server.stop()))
    },
  }
}

const holdMs = 20

/** Kills a server, and suspends each next one, which its owner starts, before it listens. */
async function takeAway(server: LocalClickHouse): Promise<() => void> {
  const killed = server.pid()!
  const suspended = new Set<number>()
  const hold = () => {
    const pid = server.pid()
    if (pid === undefined || pid === killed || suspended.has(pid)) return
    suspended.add(pid)
    signal(pid, 'SIGSTOP')
  }
  signal(killed, 'SIGKILL')
  const holding = setInterval(hold, holdMs)
  await waitFor('the next process', () => suspended.size > 0)
  return () => {
    clearInterval(holding)
    signal(server.pid()!, 'SIGCONT')
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    // It has ended, and its owner starts another one.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** The grants of the guides for the logins of a cluster. */
export function documentedGrants(): string[] {
  const guides = ['operations.md', 'several-machines.md']
    .map((name) => readFileSync(join(packageRoot, 'collector/docs', name), 'utf8'))
    .join('\n')
  const grants = [...guides.matchAll(/^(GRANT .+) TO collector;$/gm)].map(([, grant]) => grant!)
  if (!grants.some((grant) => grant.includes('READ ON REMOTE')))
    throw new Error('the guides have no grants of a cluster')
  return grants
}
