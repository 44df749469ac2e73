import { StartError } from '../startError.ts'
import { type Postgres, poolConnectionsMax } from './pool.ts'

/** The rest is for commands of other machines, backups and administrators. */
const ourShare = 0.8
/** The primary's pool, the connection that listens for jobs, and the connection that holds the ship lease. */
const primaryConnections = poolConnectionsMax + 2
/** A worker listens for changes of pixels, opt-outs and ignored traffic. */
const listenersOfWorker = 3

/**
 * Returns the size of each worker's pool, so that all processes together stay within `connectionsMax`. If
 * that is null, they stay within four fifths of the limit of the server and the login. Throws StartError if
 * the limit is too low for the number of workers.
 */
export async function connectionsOfWorker(
  postgres: Postgres,
  workers: number,
  connectionsMax: number | null,
): Promise<number> {
  const allowed = connectionsMax ?? Math.floor((await readAllowed(postgres)) * ourShare)
  const each = Math.floor((allowed - primaryConnections) / workers) - listenersOfWorker
  if (each < 1) {
    const needed = primaryConnections + workers * (listenersOfWorker + 1)
    throw new StartError(
      `${workers} workers need ${needed} connections of PostgreSQL, but ${allowed} are available: lower FOOTFALL_WORKERS, or raise max_connections or FOOTFALL_POSTGRES_CONNECTIONS_MAX`,
    )
  }
  return Math.min(poolConnectionsMax, each)
}

async function readAllowed(postgres: Postgres): Promise<number> {
  const { rows } = await postgres.query<{ allowed: number }>(
    `SELECT least(
       current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
       (SELECT nullif(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user)
     ) AS allowed`,
  )
  return rows[0]!.allowed
}
