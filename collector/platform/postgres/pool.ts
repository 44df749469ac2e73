import pg from 'pg'
import { Gauge } from 'prom-client'
import { registry } from '../metrics.ts'
import { currentSimulation } from './simulation.ts'

export type Postgres = pg.Pool

/** With more connections, PostgreSQL's processes only compete for its cores. */
export const poolConnectionsMax = 10

/** No route uses a function that writes in a SELECT. */
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
  pools.add(pool)
  const query = pool.query.bind(pool) as (...given: unknown[]) => unknown
  // Inside a simulation, statements run in its transaction, and reads before its first write as usual.
  pool.query = ((...given: unknown[]) => {
    const simulation = currentSimulation()
    const isInside = simulation?.hasBegun || !onlyReads.test(String(given[0]))
    return simulation && isInside ? simulation.query(...given) : query(...given)
  }) as typeof pool.query
  return pool
}

const pools = new Set<Postgres>()

new Gauge({
  name: 'footfall_postgres_connections',
  help: 'Connections to PostgreSQL that are used or idle, and requests that wait for one.',
  labelNames: ['state'],
  registers: [registry],
  collect() {
    for (const pool of pools) if (pool.ended) pools.delete(pool)
    const sumOf = (count: (pool: Postgres) => number) =>
      [...pools].reduce((sum, pool) => sum + count(pool), 0)
    this.set(
      { state: 'idle' },
      sumOf(({ idleCount }) => idleCount),
    )
    this.set(
      { state: 'used' },
      sumOf(({ idleCount, totalCount }) => totalCount - idleCount),
    )
    this.set(
      { state: 'waiting' },
      sumOf(({ waitingCount }) => waitingCount),
    )
  },
})
