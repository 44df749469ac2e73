import { join } from 'node:path'
import pg from 'pg'
import { storePassword } from '../localStores/password.ts'
import { type LocalStore, superviseLocalStore } from '../localStores/supervise.ts'

interface LocalPostgres extends LocalStore {
  /** Address with credentials, in the form of DATABASE_URL. */
  readonly url: string
}

/** Starts a real PostgreSQL server on 127.0.0.1 with its data in `directory` and fsync on. */
export async function startLocalPostgres(
  directory: string,
  onRestart: (reason: string) => void,
): Promise<LocalPostgres> {
  const password = storePassword(join(directory, 'password'))
  const urlOf = (port: number) => `postgres://footfall:${password}@127.0.0.1:${port}/postgres`
  const store = await superviseLocalStore({
    name: 'the local PostgreSQL',
    launcher: 'platform/postgres/localServer.js',
    settings: { directory, password },
    readyTimeoutMs: 60_000,
    onRestart,
    ready: async (port) => {
      const client = new pg.Client({
        connectionString: urlOf(port),
        connectionTimeoutMillis: 2_000,
      })
      // Ignores the event of a server that dies during the check: the call also rejects, and the check is
      // repeated.
      client.on('error', () => {})
      await client.connect()
      await client.end()
    },
  })
  return { ...store, url: urlOf(store.port) }
}
