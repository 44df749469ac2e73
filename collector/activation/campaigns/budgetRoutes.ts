import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { access } from '../../api/access/recordAccess.ts'
import { NextCursor } from '../../api/http/pagination.ts'
import { pageCounts, readChosen, readerOf } from './campaignReports.ts'
import {
  BudgetFigures,
  BudgetStatus,
  ById,
  ListQuery,
  ProjectQuery,
  tags,
} from './campaignSchemas.ts'
import { readCampaign } from './campaigns.ts'
import type { CampaignsDeps } from './campaignsDeps.ts'
import { budgetFigures, budgetStatusOf } from './pacing.ts'
import { readDelivered, sumOf } from './performance.ts'

const path = '/api/v1/campaigns'

/** Routes that return the remaining budgets of campaigns, computed from the cost in the DSP's events. */
export const budgetRoutes =
  (deps: CampaignsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, recordScopeOf, now } = deps

    app.get(
      `${path}/:campaign_id/budget-status`,
      {
        config: { access },
        schema: {
          tags,
          operationId: 'getCampaignBudgetStatus',
          description: 'Budget utilization, remaining spend and pacing health.',
          summary: 'Get the budget status of a campaign',
          params: ById,
          querystring: ProjectQuery,
          response: { 200: BudgetStatus },
        },
      },
      async ({ principal, params, query }, reply) => {
        const scope = await recordScopeOf(principal, query.project_id)
        const campaign = await readCampaign(postgres, scope, params.campaign_id)
        const of = { organizationId: scope.organizationId, campaigns: [campaign] }
        const delivered = await readDelivered(readerOf(deps, principal, reply), of)
        return budgetStatusOf(campaign, sumOf(delivered.values()).spendMicros, now())
      },
    )

    app.get(
      `${path}/budget-summary`,
      {
        config: { access },
        schema: {
          tags,
          operationId: 'getBudgetSummary',
          summary: 'List the budget status of campaigns',
          querystring: ListQuery,
          description:
            'Requires access to the project. Returns the campaigns of the page, newest first. Totals cover the campaigns of all pages that have a budget.',
          response: {
            200: Type.Object({
              campaigns: Type.Array(BudgetStatus),
              ...pageCounts,
              totals: Type.Object(BudgetFigures),
              next_cursor: NextCursor,
            }),
          },
        },
      },
      async ({ principal, query }, reply) => {
        const { organizationId, page, every } = await readChosen(deps, principal, query)
        const of = { organizationId, campaigns: every }
        const delivered = await readDelivered(readerOf(deps, principal, reply), of)
        const spentOn = (id: string) => delivered.get(id)?.spendMicros ?? 0
        const budgeted = every.filter(({ budget }) => budget !== null)
        const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0)
        return {
          ...page,
          campaigns: page.campaigns.map((one) =>
            budgetStatusOf(one, spentOn(one.campaign_id), now()),
          ),
          count: every.length,
          total: every.length,
          totals: budgetFigures(
            budgeted.length === 0
              ? null
              : sum(budgeted.map(({ budget }) => Math.round(budget! * 1e6))) / 1e6,
            sum(budgeted.map(({ campaign_id }) => spentOn(campaign_id))),
          ),
        }
      },
    )
  }
