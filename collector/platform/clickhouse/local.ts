import { join } from 'node:path'
import { storePassword } from '../localStores/password.ts'
import { type LocalStore, superviseLocalStore } from '../localStores/supervise.ts'

export interface ClusterMember {
  /** The port on which other servers reach this one. */
  nativePort: number
  /** XML of the cluster for the server's configuration. */
  remoteServers: string
  /** The grants of our login; default: all rights. */
  grants?: readonly string[]
}

export interface LocalClickHouse extends LocalStore {
  /** Address with credentials, in the form of CLICKHOUSE_URL. */
  readonly url: string
}

/**
 * Starts a real ClickHouse server on 127.0.0.1 with its data in `directory`; `settings` apply to its queries, and
 * `serverXml` to the server. With `member` the server joins a cluster. Tests use both, on one machine.
 */
export async function startLocalClickHouse(
  directory: string,
  onRestart: (reason: string) => void,
  settings: Readonly<Record<string, number>> = {},
  { member, serverXml = '' }: { member?: ClusterMember; serverXml?: string } = {},
): Promise<LocalClickHouse> {
  const password = storePassword(join(directory, 'password'))
  const store = await superviseLocalStore({
    name: 'the local ClickHouse',
    launcher: 'platform/clickhouse/localServer.js',
    settings: {
      directory,
      password,
      querySettings: settings,
      serverXml,
      member,
    },
    readyTimeoutMs: 60_000,
    // Inserts and merges use many threads, and must not delay the requests that receive beacons.
    nice: 5,
    onRestart,
    ready: async (port) => {
      const answer = await fetch(`http://127.0.0.1:${port}/ping`)
      if (!answer.ok) throw new Error(`it answers ${answer.status}`)
    },
  })
  return { ...store, url: `http://footfall:${password}@127.0.0.1:${store.port}` }
}
