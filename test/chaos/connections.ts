import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'

/** Who is connected to a PostgreSQL while its clients are killed: connections that nobody ends show here. */
export interface Connections {
  /** The most there were at once so far. */
  most(): number
  /** How many there are, by the name that their process gave them. */
  now(): Promise<Record<string, number>>
  close(): Promise<void>
}

const lookMs = 2_000

/** Looks now and again how many connections there are, its own left out; while PostgreSQL is away it waits. */
export function watchConnections(databaseUrl: string): Connections {
  let [most, isClosed] = [0, false]
  const now = async () => {
    const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: lookMs })
    client.on('error', () => {})
    try {
      await client.connect()
      const { rows } = await client.query<{ name: string; count: number }>(
        `SELECT coalesce(nullif(application_name, ''), 'pool') AS name, count(*)::int AS count FROM pg_stat_activity
         WHERE datname = current_database() AND backend_type = 'client backend' AND pid != pg_backend_pid()
         GROUP BY name ORDER BY name`,
      )
      return Object.fromEntries(rows.map(({ name, count }) => [name, count]))
    } finally {
      // A server that is away says no goodbye.
      client.connection.stream.destroy()
    }
  }
  const watch = async () => {
    while (!isClosed) {
      const counts = await now().catch(() => ({}))
      most = Math.max(
        most,
        Object.values(counts).reduce((sum, count) => sum + count, 0),
      )
      await delay(lookMs)
    }
  }
  const watching = watch()
  return {
    most: () => most,
    now,
    async close() {
      isClosed = true
      await watching
    },
  }
}
