import pg from 'pg'

export type Postgres = pg.Pool

/** More only makes PostgreSQL's processes compete for its cores. */
export const poolConnectionsMax = 10

/** Opens a pool on `url`. At most `max` connections are made, as they are needed; one that breaks is replaced. */
export function openPostgres(
  url: string,
  onError: (error: Error) => void,
  max = poolConnectionsMax,
): Postgres {
  const pool = new pg.Pool({ connectionString: url, max, connectionTimeoutMillis: 10_000 })
  // Without a listener, an idle connection that the server closes would end the process.
  pool.on('error', onError)
  // So would one that is in use: its query rejects with the same error, which is all that anybody needs.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}
