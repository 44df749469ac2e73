import pg from 'pg'
import { currentSimulation } from './simulation.ts'

export type Postgres = pg.Pool

/** More only makes PostgreSQL's processes compete for its cores. */
export const poolConnectionsMax = 10

/** A statement that can only read, unless it calls a function that writes: no route's reads do. */
const onlyReads = /^\s*SELECT\b/i

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
  const query = pool.query.bind(pool) as (...given: unknown[]) => unknown
  const querySimulated = async (...given: unknown[]): Promise<unknown> => {
    const simulation = currentSimulation()
    if (!simulation || (!simulation.hasBegun && onlyReads.test(String(given[0]))))
      return query(...given)
    const client = await simulation.client()
    return (client.query as typeof query).apply(client, given)
  }
  // The same statements, but inside a simulation they see and share its transaction.
  pool.query = ((...given: unknown[]) =>
    currentSimulation() ? querySimulated(...given) : query(...given)) as typeof pool.query
  return pool
}
