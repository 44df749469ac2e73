import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** The password of a local store, created once next to its data, readable only by its owner. */
export function storePassword(file: string): string {
  if (existsSync(file)) return readFileSync(file, 'utf8')
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const password = randomBytes(24).toString('hex')
  writeFileSync(file, password, { mode: 0o600 })
  return password
}
