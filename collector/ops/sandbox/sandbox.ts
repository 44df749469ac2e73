import { storeMember } from '../../accounts/members/newMember.ts'
import { sampleIdentity } from '../../api/access/sandboxTenant.ts'
import type { Uploads } from '../../audiences/lists/upload/uploads.ts'
import { readRules, replaceRules } from '../../audiences/signals/rules.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { Log } from '../../platform/log.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { ensureSampleAudiences } from './sampleAudiences.ts'
import { sampleCampaigns } from './sampleCampaigns.ts'
import { fillSampleDatabase } from './sampleDatabase.ts'
import { ensureSampleExports } from './sampleExports.ts'
import { ensureSampleLists } from './sampleLists.ts'
import { ensureSampleRecords } from './sampleRecords.ts'
import { sampleRules } from './sampleSignals.ts'

/**
 * Ensures that the data of test keys exists: their organization, some days of traffic, audiences, a list and
 * exports.
 */
export async function ensureSandbox(
  {
    postgres,
    test,
    uploads,
    log,
  }: { postgres: Postgres; test: ClickHouse; uploads: Uploads; log: Log },
  sampleDays: number,
): Promise<void> {
  if (sampleDays > 0) {
    await fillSampleDatabase(test, new Date(), sampleDays).catch((error: Error) =>
      log.warn({ error: error.message }, 'could not fill the sample database'),
    )
  }
  await ensureSampleOrganization(postgres)
  if (sampleDays === 0) return
  await ensureSampleAudiences(postgres)
  await ensureSampleLists(postgres, uploads)
  await ensureSampleExports(postgres)
}

/** Members of the sample organization, who cannot sign in. */
const sampleMembers = [
  { memberId: '5a3b1e00-0000-4000-8000-0000000000a1', name: 'Ada Sample', role: 'owner' },
  { memberId: '5a3b1e00-0000-4000-8000-0000000000a2', name: 'Ben Sample', role: 'admin' },
  { memberId: '5a3b1e00-0000-4000-8000-0000000000a3', name: 'Cleo Sample', role: 'member' },
] as const

/** No password has this hash. */
const noPassword = '!'

/** Ensures that the sample organization exists, with all its data for test keys except its events. */
export async function ensureSampleOrganization(postgres: Postgres): Promise<void> {
  const { organizationId, projectId, pixelId } = sampleIdentity
  await postgres.query(
    'INSERT INTO organizations (organization_id, name) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    [organizationId, 'Sample organization'],
  )
  await postgres.query(
    'INSERT INTO projects (project_id, organization_id, name) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    [projectId, organizationId, 'Sample shop'],
  )
  await postgres.query(
    `INSERT INTO pixels (pixel_id, project_id, name, allowed_origins) VALUES ($1, $2, $3, $4)
     ON CONFLICT DO NOTHING`,
    [pixelId, projectId, 'Sample shop', ['https://pottery.example']],
  )
  const { version } = await readRules(postgres, organizationId)
  if (version === 0) await replaceRules(postgres, organizationId, sampleRules)
  for (const { memberId, name, role } of sampleMembers) {
    const email = `${memberId}@sample.invalid`
    await storeMember(postgres, {
      memberId,
      organizationId,
      email,
      name,
      role,
      passwordHash: noPassword,
    })
    await postgres.query(
      `INSERT INTO project_members (project_id, member_id, role) SELECT $1, $2, 'member' WHERE $3 = 'member'
       ON CONFLICT DO NOTHING`,
      [projectId, memberId, role],
    )
  }
  await ensureSampleRecords(postgres)
  for (const { campaignId, name, budget } of sampleCampaigns) {
    await postgres.query(
      `INSERT INTO campaigns (campaign_id, project_id, name, status, budget, start_date, created_at, updated_at)
       VALUES ($1, $2, $3, 'active', $4, '2026-01-01', '2026-01-01', '2026-01-01') ON CONFLICT DO NOTHING`,
      [campaignId, projectId, name, budget],
    )
  }
}
