import type { FastifyReply } from 'fastify'
import { type Static, Type } from 'typebox'
import { requireFiltersAllowed } from '../../api/access/policy.ts'
import type { Principal } from '../../api/access/principal.ts'
import type { QueryExecutor } from '../../api/access/queryExecutor.ts'
import { untilClosed } from '../../api/http/streaming.ts'
import type { ListQuery } from './campaignSchemas.ts'
import { listCampaigns, readEvery } from './campaigns.ts'
import type { CampaignsDeps } from './campaignsDeps.ts'

export const pageCounts = {
  count: Type.Integer({ description: 'Campaigns on all pages.' }),
  total: Type.Integer({ description: 'The same as `count`.' }),
}

/** Opens the reader of reports, which read few rows, because the projection has daily sums. */
export const readerOf = (
  { openQueryExecutor }: CampaignsDeps,
  principal: Principal,
  reply: FastifyReply,
): QueryExecutor => openQueryExecutor(principal, { effort: 'page', signal: untilClosed(reply) })

/** Reads the campaigns of a report: those of its page, and all that its totals include. */
export async function readChosen(
  { recordScopeOf, ...deps }: CampaignsDeps,
  principal: Principal,
  { limit, cursor, project_id, ...filters }: Static<typeof ListQuery>,
) {
  requireFiltersAllowed(principal, filters)
  const scope = await recordScopeOf(principal, project_id)
  const choice = { scope, ...filters }
  const [page, every] = await Promise.all([
    listCampaigns(deps, choice, { limit, cursor }),
    readEvery(deps.postgres, choice),
  ])
  return { organizationId: scope.organizationId, page, every }
}
