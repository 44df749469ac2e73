import { join } from 'node:path'
import type { Cluster } from '../../collector/platform/clickhouse/cluster.ts'
import {
  type LocalClickHouse,
  startLocalClickHouse,
} from '../../collector/platform/clickhouse/local.ts'
import { storePassword } from '../../collector/platform/localStores/password.ts'
import { freePort } from '../../collector/platform/localStores/supervise.ts'

/** ClickHouse servers that are one cluster, a shard each, as on as many machines. */
export interface Shards {
  cluster: Cluster
  /** Content of all shards together. */
  database: string
  servers: LocalClickHouse[]
  /** The environment that names them. */
  env: Record<string, string>
  stop(): Promise<void>
}

/** Starts `count` real servers, with their data below `directory`; with `grants` our login has these alone. */
export async function startShards(
  directory: string,
  count: number,
  {
    onRestart = () => {},
    grants,
  }: { onRestart?: (reason: string) => void; grants?: readonly string[] } = {},
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
        { nativePort, remoteServers, ...(grants && { grants }) },
      ),
    ),
  )
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
    async stop() {
      await Promise.all(servers.map((server) => server.stop()))
    },
  }
}
