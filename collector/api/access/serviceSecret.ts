import { randomBytes } from 'node:crypto'
import type { Postgres } from '../../platform/postgres/pool.ts'

const known = new WeakMap<Postgres, Map<string, Promise<Buffer>>>()

/**
 * Returns a secret of 32 bytes that the service generated once and stores in PostgreSQL for all processes.
 */
export function serviceSecret(
  postgres: Postgres,
  name:
    | 'token_key'
    | 'browser_key'
    | 'identify_key'
    | 'event_id_key'
    | 'cursor_key'
    | 'unsubscribe_key',
): Promise<Buffer> {
  const secrets = known.get(postgres) ?? new Map<string, Promise<Buffer>>()
  known.set(postgres, secrets)
  const found = secrets.get(name) ?? readSecret(postgres, name)
  secrets.set(name, found)
  found.catch(() => secrets.delete(name))
  return found
}

async function readSecret(postgres: Postgres, name: string): Promise<Buffer> {
  await postgres.query(
    'INSERT INTO service_secrets (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    [name, randomBytes(32)],
  )
  const { rows } = await postgres.query<{ value: Buffer }>(
    'SELECT value FROM service_secrets WHERE name = $1',
    [name],
  )
  return rows[0]!.value
}
