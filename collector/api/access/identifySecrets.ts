import { createHmac } from 'node:crypto'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { serviceSecret } from './serviceSecret.ts'

/** The valid versions of a pixel's secret: one, or two during a rotation. */
export interface SecretVersions {
  identify_secret_newest: number
  identify_secret_oldest: number
}

interface IdentifySecret {
  version: number
  /** 64 hex characters; this text is the key of the HMAC. */
  secret: string
}

/** Returns the secrets with which a pixel's owner signs `identify` calls. */
export type IdentifySecrets = (pixelId: string, valid: SecretVersions) => IdentifySecret[]

/** Derives the secrets of pixels, newest first: they are not stored, and can be shown again. */
export async function openIdentifySecrets(postgres: Postgres): Promise<IdentifySecrets> {
  const key = await serviceSecret(postgres, 'identify_key')
  const secretOf = (pixelId: string, version: number) =>
    createHmac('sha256', key).update(`${pixelId} ${version}`).digest('hex')
  return (pixelId, { identify_secret_newest: newest, identify_secret_oldest: oldest }) =>
    Array.from({ length: newest - oldest + 1 }, (_, index) => ({
      version: newest - index,
      secret: secretOf(pixelId, newest - index),
    }))
}
