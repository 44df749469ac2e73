import type { Postgres } from '../postgres/pool.ts'
import { createSecretBox, keysOf, type SecretBoxSettings } from './secretBox.ts'

const name = 'secret_key_proof'

/**
 * Stores a text that the first key encrypted, so that a wrong key is found before it encrypts a secret. Returns whether
 * the keys decrypt the stored text; a rotation replaces it. Without a key it stores nothing.
 */
export async function proveSecretKey(
  postgres: Postgres,
  settings: SecretBoxSettings,
): Promise<boolean> {
  const keys = keysOf(settings)
  if (keys.length === 0) return true
  const box = createSecretBox(keys)
  await postgres.query(
    'INSERT INTO service_secrets (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    [name, Buffer.from(box.seal(name, name))],
  )
  if ((await isSecretKeyProven(postgres, keys)) === false) return false
  if ((await isSecretKeyProven(postgres, keys.slice(0, 1))) === false)
    await postgres.query('UPDATE service_secrets SET value = $2 WHERE name = $1', [
      name,
      Buffer.from(box.seal(name, name)),
    ])
  return true
}

/** Whether one of the keys decrypts the stored text; null if no service with a key has started yet. */
export async function isSecretKeyProven(
  postgres: Postgres,
  keys: readonly Buffer[],
): Promise<boolean | null> {
  const { rows } = await postgres.query<{ value: Buffer }>(
    'SELECT value FROM service_secrets WHERE name = $1',
    [name],
  )
  if (!rows[0]) return null
  try {
    return createSecretBox(keys).open(String(rows[0].value), name) === name
  } catch {
    return false
  }
}
