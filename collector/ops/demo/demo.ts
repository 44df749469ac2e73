import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newApiCredentials, storeApiKey } from '../../accounts/keys/apiKeys.ts'
import { storeMember } from '../../accounts/members/newMember.ts'
import { setOperator } from '../../accounts/operator/operators.ts'
import { hashPassword } from '../../api/access/passwords.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'

export interface Demo {
  collector_url: string
  demo_url: string
  dashboard_url: string
  organization_id: string
  project_id: string
  pixel_id: string
  api_key: string
  api_secret: string
  test_api_key: string
  test_api_secret: string
  admin_email: string
  admin_password: string
}

/**
 * Ensures that the demo organization, project, pixel, member and keys exist, and that demo.json in the data
 * directory describes them. The file is the only source of the secrets, because the database stores only
 * hashes.
 */
export async function ensureDemo(
  postgres: Postgres,
  {
    dataDir,
    publicUrl,
    collectorUrl,
  }: { dataDir: string; publicUrl: string; collectorUrl: string },
): Promise<Demo> {
  const file = join(dataDir, 'demo.json')
  const kept: Partial<Demo> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  const demo: Demo = { ...newFacts(), ...kept, ...addresses(publicUrl, collectorUrl) }

  const { organization_id, project_id, pixel_id } = demo
  await postgres.query(
    'INSERT INTO organizations (organization_id, name) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    [organization_id, 'Demo organization'],
  )
  await postgres.query(
    'INSERT INTO projects (project_id, organization_id, name) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    [project_id, organization_id, 'Demo shop'],
  )
  await postgres.query(
    'INSERT INTO pixels (pixel_id, project_id, name) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    [pixel_id, project_id, 'Demo shop'],
  )
  await storeMember(postgres, {
    organizationId: organization_id,
    email: demo.admin_email,
    role: 'owner',
    passwordHash: await hashPassword(demo.admin_password),
  })
  await setOperator(postgres, demo.admin_email, true)
  const owner = { organizationId: organization_id, projectId: null }
  await storeApiKey(postgres, owner, 'live', 'Demo key', {
    apiKey: demo.api_key,
    apiSecret: demo.api_secret,
  })
  await storeApiKey(postgres, owner, 'test', 'Demo test key', {
    apiKey: demo.test_api_key,
    apiSecret: demo.test_api_secret,
  })

  const draft = `${file}.draft`
  writeFileSync(draft, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, file)
  return demo
}

function newFacts() {
  const live = newApiCredentials('live')
  const test = newApiCredentials('test')
  return {
    organization_id: randomUUID(),
    project_id: randomUUID(),
    pixel_id: randomUUID(),
    api_key: live.apiKey,
    api_secret: live.apiSecret,
    test_api_key: test.apiKey,
    test_api_secret: test.apiSecret,
    admin_email: 'demo@footfall.example',
    admin_password: randomBytes(12).toString('base64url'),
  }
}

const addresses = (publicUrl: string, collectorUrl: string) => ({
  collector_url: collectorUrl,
  demo_url: `${publicUrl}/demo`,
  dashboard_url: `${publicUrl}/`,
})
