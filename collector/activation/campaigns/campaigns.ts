import type { Static } from 'typebox'
import { isUuid } from '../../../schemas/uuid.ts'
import type { RecordScope } from '../../api/access/policy.ts'
import { invalidParameter, notFound } from '../../api/http/errors.ts'
import { requireVersion } from '../../api/http/optimisticLock.ts'
import { readPage } from '../../api/http/pagination.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { readRecords } from '../../platform/postgres/records.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { uuidV7 } from '../../platform/uuidV7.ts'
import type { CampaignChange, Campaign as CampaignSchema, NewCampaign } from './campaignSchemas.ts'
import type { CampaignsDeps } from './campaignsDeps.ts'
import { requireDaysInOrder } from './daysInOrder.ts'

export type Campaign = Static<typeof CampaignSchema>

export interface Choice {
  scope: RecordScope
  status?: string | undefined
  campaign_id?: string | undefined
  audience_id?: string | undefined
}

const columns = `campaign_id, campaigns.project_id, campaigns.name, status, budget::float8 AS budget,
  start_date::text AS start_date, end_date::text AS end_date, audience_id, campaigns.version,
  campaigns.created_at, campaigns.updated_at`

/** SQL of a choice: the parameters $1 to $5. */
const chosen = `FROM campaigns JOIN projects USING (project_id)
  WHERE organization_id = $1 AND ($2::uuid[] IS NULL OR project_id = ANY($2))
    AND ($3::text IS NULL OR status = $3) AND ($4::uuid IS NULL OR campaign_id = $4)
    AND ($5::uuid IS NULL OR audience_id = $5)`

const parametersOf = ({ scope, status, campaign_id, audience_id }: Choice) => [
  scope.organizationId,
  scope.projectIds,
  status ?? null,
  campaign_id ?? null,
  audience_id ?? null,
]

/** Reads a campaign. Throws 404 "campaign not found", also for one outside the scope. */
export async function readCampaign(
  postgres: Queryable,
  scope: RecordScope,
  campaignId: string,
  lock = false,
): Promise<Campaign> {
  if (!isUuid(campaignId)) throw notFound.campaign()
  const [campaign] = await readRecords<Campaign>(
    postgres,
    `SELECT ${columns} ${chosen} ${lock ? 'FOR UPDATE OF campaigns' : ''}`,
    parametersOf({ scope, campaign_id: campaignId }),
  )
  if (!campaign) throw notFound.campaign()
  return campaign
}

/** Returns a page of campaigns, newest first. Throws 400 for an invalid cursor. */
export async function listCampaigns(
  deps: Pick<CampaignsDeps, 'postgres' | 'cursors'>,
  choice: Choice,
  page: { limit?: number | undefined; cursor?: string | undefined },
): Promise<{ campaigns: Campaign[]; next_cursor?: string }> {
  const { rows, next } = await readPage<Campaign>(deps, page, {
    list: 'campaigns',
    owner: choice.scope.organizationId,
    sql: `SELECT ${columns} ${chosen}`,
    values: parametersOf(choice),
    key: { campaign_id: 'uuid' },
    order: 'desc',
  })
  return { campaigns: rows, ...next }
}

/** Reads the data for a summary of all selected campaigns. */
export async function readEvery(
  postgres: Postgres,
  choice: Choice,
): Promise<Pick<Campaign, 'campaign_id' | 'project_id' | 'budget'>[]> {
  return readRecords(
    postgres,
    `SELECT campaign_id, project_id, budget::float8 AS budget ${chosen}`,
    parametersOf(choice),
  )
}

/** Creates a campaign. Throws 400 for days in the wrong order, and for a foreign audience. */
export async function createCampaign(
  postgres: Queryable,
  projectId: string,
  { name, start_date, ...settings }: Omit<Static<typeof NewCampaign>, 'project_id'>,
): Promise<Campaign> {
  const { status = 'draft', budget = null, end_date = null, audience_id = null } = settings
  requireDaysInOrder({ start_date, end_date })
  await requireAudience(postgres, projectId, audience_id)
  const [campaign] = await readRecords<Campaign>(
    postgres,
    `INSERT INTO campaigns (campaign_id, project_id, name, status, budget, start_date, end_date, audience_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING ${columns}`,
    [uuidV7(), projectId, name, status, budget, start_date, end_date, audience_id],
  )
  return campaign!
}

/** Changes the given fields. Throws 409 with the current campaign if `version` is not the newest. */
export async function changeCampaign(
  postgres: Queryable,
  campaign: Campaign,
  { version, ...change }: Static<typeof CampaignChange>,
): Promise<Campaign> {
  requireVersion('campaign', campaign, version)
  const { name, status, budget, start_date, end_date, audience_id } = { ...campaign, ...change }
  requireDaysInOrder({ start_date, end_date })
  if (audience_id !== campaign.audience_id)
    await requireAudience(postgres, campaign.project_id, audience_id)
  const [changed] = await readRecords<Campaign>(
    postgres,
    `UPDATE campaigns SET name = $2, status = $3, budget = $4, start_date = $5, end_date = $6, audience_id = $7,
       version = version + 1, updated_at = now()
     WHERE campaign_id = $1 RETURNING ${columns}`,
    [campaign.campaign_id, name, status, budget, start_date, end_date, audience_id],
  )
  return changed!
}

/** Throws 400 for an audience of another project. Keeps the audience until the transaction ends. */
async function requireAudience(
  client: Queryable,
  projectId: string,
  audienceId: string | null,
): Promise<void> {
  if (audienceId === null) return
  const { rowCount } = await client.query(
    'SELECT FROM audiences WHERE audience_id = $1 AND project_id = $2 AND list_id IS NULL FOR KEY SHARE',
    [audienceId, projectId],
  )
  if (rowCount === 0)
    throw invalidParameter('audience_id', 'no audience of this project has this id')
}
