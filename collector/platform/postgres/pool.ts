import pg from 'pg'

export type Postgres = pg.Pool

/** Opens a pool on `url`. Connections are made as they are needed; one that breaks is replaced. */
export function openPostgres(url: string, onError: (error: Error) => void): Postgres {
  const pool = new pg.Pool({ connectionString: url, max: 10, connectionTimeoutMillis: 10_000 })
  // Without a listener, an idle connection that the server closes would end the process.
  pool.on('error', onError)
  // So would one that is in use: its query rejects with the same error, which is all that anybody needs.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}
