import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { StartError } from '../startError.ts'
import type { Postgres } from './pool.ts'

const channel = 'footfall_session'
/** The time limit for an announcement, which normally takes milliseconds. */
const waitMsMax = 10_000

/**
 * Throws StartError if notifications of PostgreSQL (NOTIFY) do not arrive, because `url` leads to a pooler
 * that shares connections between transactions. Everything else appears to work through such a pooler. But
 * changes of pixels, opt-outs and leases of shippers would never arrive, and other clients' connections would
 * hold our locks.
 */
export async function requireSession(postgres: Postgres, url: string): Promise<void> {
  const listener = new pg.Client({
    connectionString: url,
    application_name: `footfall ${channel}`,
    connectionTimeoutMillis: waitMsMax,
  })
  listener.on('error', () => {})
  await listener.connect()
  let timer: NodeJS.Timeout | undefined
  try {
    const word = randomUUID()
    const heard = new Promise<boolean>((resolve) => {
      listener.on('notification', ({ payload }) => payload === word && resolve(true))
      timer = setTimeout(() => resolve(false), waitMsMax)
    })
    await listener.query(`LISTEN ${channel}`)
    await postgres.query('SELECT pg_notify($1, $2)', [channel, word])
    if (await heard) return
  } finally {
    clearTimeout(timer)
    await listener.end()
  }
  throw new StartError(
    'DATABASE_URL points to a pooler in transaction mode, such as PgBouncer with pool_mode = transaction. It does not forward PostgreSQL’s notifications (LISTEN). Connect to PostgreSQL directly, or set pool_mode = session.',
  )
}
