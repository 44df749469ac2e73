import pg from 'pg'
import { currentSimulation } from './simulation.ts'

export type Postgres = pg.Pool

/** With more connections, PostgreSQL's processes only compete for its cores. */
export const poolConnectionsMax = 10

/**
 * A statement that only reads, unless it calls a function that writes; no route uses such a function in a
 * SELECT.
 */
const onlyReads = /^\s*SELECT\b/i

/** Opens a pool on `url`. It opens connections on demand, at most `max`, and replaces broken ones. */
export function openPostgres(
  url: string,
  onError: (error: Error) => void,
  max = poolConnectionsMax,
): Postgres {
  const pool = new pg.Pool({ connectionString: url, max, connectionTimeoutMillis: 10_000 })
  // Without a listener, the process would end when the server closes an idle connection.
  pool.on('error', onError)
  // The same applies to a connection in use; its query rejects with the error, so the event is ignored.
  pool.on('connect', (client) => client.on('error', () => {}))
  const query = pool.query.bind(pool) as (...given: unknown[]) => unknown
  const querySimulated = async (...given: unknown[]): Promise<unknown> => {
    const simulation = currentSimulation()
    if (!simulation || (!simulation.hasBegun && onlyReads.test(String(given[0]))))
      return query(...given)
    const client = await simulation.client()
    return (client.query as typeof query).apply(client, given)
  }
  // Inside a simulation, statements run in its transaction.
  pool.query = ((...given: unknown[]) =>
    currentSimulation() ? querySimulated(...given) : query(...given)) as typeof pool.query
  return pool
}
