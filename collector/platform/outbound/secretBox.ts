import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Encrypts customers' secrets, so that a copy of the stores does not reveal them. */
export interface SecretBox {
  /**
   * Encrypts a text for one purpose (`webhook:ID`); only the same purpose can decrypt it. Throws
   * NoSecretKeyError if the operator has set no key.
   */
  seal(text: string, purpose: string): string
  /** Decrypts a text. Throws if the purpose differs, the key is unknown or the text was changed. */
  open(sealed: string, purpose: string): string
}

/** A secret cannot be stored because the operator has not set FOOTFALL_SECRET_KEY. */
export class NoSecretKeyError extends Error {
  constructor() {
    super('FOOTFALL_SECRET_KEY is not set, so this service cannot store secrets')
  }
}

export interface SecretBoxSettings {
  /** Base64 keys: the first one encrypts, all of them decrypt. */
  secretKeys: readonly string[]
  /** Null for the local PostgreSQL. */
  databaseUrl: string | null
  dataDir: string
}

const version = 'v1'
const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16

/**
 * Encrypts with the first key and decrypts with any: AES-256-GCM, as `v1.KEY.BASE64URL` where KEY identifies
 * the key.
 */
export function createSecretBox(keys: readonly Buffer[]): SecretBox {
  const byName = new Map(keys.map((key) => [nameOf(key), key]))
  return {
    seal(text, purpose) {
      const key = keys[0]
      if (!key) throw new NoSecretKeyError()
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(purpose))
      const sealed = Buffer.concat([
        nonce,
        cipher.update(text, 'utf8'),
        cipher.final(),
        cipher.getAuthTag(),
      ])
      return [version, nameOf(key), sealed.toString('base64url')].join('.')
    },
    open(sealed, purpose) {
      const [, name, content] = sealed.split('.')
      const key = byName.get(name!)
      if (!key)
        throw new Error(
          `a secret was encrypted with the key ${name}, which FOOTFALL_SECRET_KEY does not contain`,
        )
      const bytes = Buffer.from(content!, 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes))
        .setAAD(Buffer.from(purpose))
        .setAuthTag(bytes.subarray(-tagBytes))
      return (
        decipher.update(bytes.subarray(nonceBytes, -tagBytes), undefined, 'utf8') +
        decipher.final('utf8')
      )
    },
  }
}

/** Returns the name that sealed texts have for a key. */
export const nameOf = (key: Buffer): string =>
  createHash('sha256').update(key).digest('hex').slice(0, 8)

export const openSecretBox = (settings: SecretBoxSettings): SecretBox =>
  createSecretBox(keysOf(settings))

/**
 * Returns the keys of FOOTFALL_SECRET_KEY. With the local PostgreSQL, the default is a key that is created once and
 * stored next to it. Several hosts with one PostgreSQL need the same keys.
 */
export function keysOf({ secretKeys, databaseUrl, dataDir }: SecretBoxSettings): Buffer[] {
  if (secretKeys.length > 0) return secretKeys.map((key) => Buffer.from(key, 'base64'))
  return databaseUrl === null ? [localKey(join(dataDir, 'secret_key'))] : []
}

/** Returns the key in a file that only its owner may read; the first process creates it. */
function localKey(file: string): Buffer {
  const own = `${file}.${process.pid}`
  writeFileSync(own, randomBytes(keyBytes).toString('base64'), { mode: 0o600 })
  try {
    linkSync(own, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(own)
  }
  return Buffer.from(readFileSync(file, 'utf8'), 'base64')
}
