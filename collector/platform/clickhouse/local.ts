import { join } from 'node:path'
import { storePassword } from '../localStores/password.ts'
import { type LocalStore, superviseLocalStore } from '../localStores/supervise.ts'

/** Settings of a server in a cluster. */
export interface ClusterMember {
  /** Where the others reach it. */
  nativePort: number
  /** XML of its configuration: the cluster. */
  remoteServers: string
  /** All that our login may do there; default: everything. */
  grants?: readonly string[]
}

export interface LocalClickHouse extends LocalStore {
  /** Address with credentials, as CLICKHOUSE_URL would give it. */
  readonly url: string
}

/** The one place where a local server with its data in `directory` may write backups to and read them from. */
export const localBackups = (directory: string): string => join(directory, 'backups')

/**
 * Starts a real ClickHouse server on 127.0.0.1 with its data in `directory`; `settings` are those of its queries. With
 * `member` it is one of a cluster, which tests run on one machine.
 */
export async function startLocalClickHouse(
  directory: string,
  onRestart: (reason: string) => void,
  settings: Readonly<Record<string, number>> = {},
  member?: ClusterMember,
): Promise<LocalClickHouse> {
  const password = storePassword(join(directory, 'password'))
  const store = await superviseLocalStore({
    name: 'the local ClickHouse',
    launcher: 'platform/clickhouse/localServer.js',
    settings: {
      directory,
      password,
      backups: localBackups(directory),
      querySettings: settings,
      member,
    },
    readyTimeoutMs: 60_000,
    // Its inserts and merges have many threads, and none of them is in such a hurry as a beacon.
    nice: 5,
    onRestart,
    ready: async (port) => {
      const answer = await fetch(`http://127.0.0.1:${port}/ping`)
      if (!answer.ok) throw new Error(`it answers ${answer.status}`)
    },
  })
  return { ...store, url: `http://footfall:${password}@127.0.0.1:${store.port}` }
}
