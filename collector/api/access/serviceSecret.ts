import { randomBytes } from 'node:crypto'
import type { Postgres } from '../../platform/postgres/pool.ts'

const secretsByPool = new WeakMap<Postgres, Map<string, Promise<Buffer>>>()

/** Returns 32 random bytes that PostgreSQL keeps for all processes. */
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
  const secrets = secretsByPool.get(postgres) ?? new Map<string, Promise<Buffer>>()
  secretsByPool.set(postgres, secrets)
  const secret = secrets.get(name) ?? readSecret(postgres, name)
  secrets.set(name, secret)
  secret.catch(() => secrets.delete(name))
  return secret
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
