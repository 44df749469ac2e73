import { randomBytes, randomUUID } from 'node:crypto'
import { sha256 } from '../access/authenticate.ts'
import type { Postgres } from '../postgres/pool.ts'

/** A key as it is shown once, at creation; only hashes of it are kept (spec: API credentials). */
export interface ApiCredentials {
  /** "ff_live_…" or "ff_test_…". */
  apiKey: string
  /** 64 hexadecimal characters. */
  apiSecret: string
}

const shownChars = 'ff_live_'.length + 6

export const newApiCredentials = (mode: 'live' | 'test'): ApiCredentials => ({
  apiKey: `ff_${mode}_${randomBytes(16).toString('hex')}`,
  apiSecret: randomBytes(32).toString('hex'),
})

/** Stores a key of an organization, or of one project of it. Storing the same key again changes nothing. */
export async function storeApiKey(
  postgres: Postgres,
  owner: { organizationId: string; projectId: string | null },
  mode: 'live' | 'test',
  name: string,
  { apiKey, apiSecret }: ApiCredentials,
): Promise<void> {
  await postgres.query(
    `INSERT INTO api_keys (key_id, organization_id, project_id, mode, name, key_prefix, key_sha256, secret_sha256)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (key_sha256) DO NOTHING`,
    [
      ...[randomUUID(), owner.organizationId, owner.projectId, mode, name],
      ...[apiKey.slice(0, shownChars), sha256(apiKey), sha256(apiSecret)],
    ],
  )
}
