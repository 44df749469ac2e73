import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { Principal } from '../access/principal.ts'
import { access } from '../access/recordAccess.ts'
import { requireFiltersAllowed } from '../access/recordScope.ts'
import { NextCursor } from '../http/pagination.ts'
import { untilClosed } from '../http/streaming.ts'
import type { CampaignsDeps } from './deps.ts'
import { budgetFigures, budgetStatusOf } from './pacing.ts'
import { dailyOf, metricsOf, readDaily, readDelivered, sumOf } from './performance.ts'
import { listCampaigns, readCampaign, readEvery } from './records.ts'
import {
  BudgetFigures,
  BudgetStatus,
  ById,
  Campaign,
  Daily,
  ListQuery,
  Metrics,
  PerformanceQuery,
  ProjectQuery,
  SummaryQuery,
  tags,
} from './schemas.ts'

const path = '/api/v1/campaigns'
const { campaign_id, project_id, name, status } = Campaign.properties
const count = Type.Integer({ description: 'Campaigns on all pages.' })

/** What campaigns did (spec: Campaign performance) and what is left of their budgets, from the DSP's events. */
export const reportRoutes =
  (deps: CampaignsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, openReader, recordScopeOf, now } = deps
    const config = { access }
    // The projection has sums of whole days: little is read.
    const readerOf = (principal: Principal, reply: FastifyReply) =>
      openReader(principal, { effort: 'page', signal: untilClosed(reply) })

    app.get(
      `${path}/:campaign_id/performance`,
      {
        config,
        schema: {
          ...{
            tags,
            operationId: 'getCampaignPerformance',
            summary: 'Get the performance of a campaign',
            params: ById,
            querystring: PerformanceQuery,
          },
          description: 'Over its whole life, or the days that are named. Days without events are left out.',
          response: { 200: Type.Object({ campaign_id, metrics: Metrics, daily: Daily }) },
        },
      },
      async ({ principal, params, query }, reply) => {
        const scope = await recordScopeOf(principal, query.project_id)
        const campaign = await readCampaign(postgres, scope, params.campaign_id)
        const days = await readDaily(readerOf(principal, reply), {
          organizationId: scope.organizationId,
          campaigns: [campaign],
          ...{ startDate: query.start_date, endDate: query.end_date },
        })
        return {
          campaign_id: campaign.campaign_id,
          metrics: metricsOf(sumOf(days.values())),
          daily: dailyOf(days),
        }
      },
    )

    app.get(
      `${path}/:campaign_id/budget-status`,
      {
        config,
        schema: {
          ...{
            tags,
            operationId: 'getCampaignBudgetStatus',
            description: 'Budget utilization, remaining spend and pacing health.',
            summary: 'Get the budget status of a campaign',
            params: ById,
            querystring: ProjectQuery,
          },
          response: { 200: BudgetStatus },
        },
      },
      async ({ principal, params, query }, reply) => {
        const scope = await recordScopeOf(principal, query.project_id)
        const campaign = await readCampaign(postgres, scope, params.campaign_id)
        const of = { organizationId: scope.organizationId, campaigns: [campaign] }
        const delivered = await readDelivered(readerOf(principal, reply), of)
        return budgetStatusOf(campaign, sumOf(delivered.values()).spendMicros, now())
      },
    )

    app.get(
      `${path}/performance-summary`,
      {
        config,
        schema: {
          ...{
            tags,
            operationId: 'getPerformanceSummary',
            summary: 'Get the performance of the campaigns of a project',
            querystring: SummaryQuery,
          },
          description: 'The page’s campaigns one by one, newest first; totals are of all pages.',
          response: {
            200: Type.Object({
              campaigns: Type.Array(Type.Object({ campaign_id, project_id, name, status, metrics: Metrics })),
              ...{ count, totals: Metrics, next_cursor: NextCursor },
            }),
          },
        },
      },
      async ({ principal, query }, reply) => {
        const { start_date, end_date, limit, cursor, project_id, ...filters } = query
        requireFiltersAllowed(principal, filters)
        const scope = await recordScopeOf(principal, project_id)
        const choice = { scope, ...filters }
        const [page, every] = await Promise.all([
          listCampaigns(deps, choice, { limit, cursor }),
          readEvery(postgres, choice),
        ])
        const delivered = await readDelivered(readerOf(principal, reply), {
          organizationId: scope.organizationId,
          campaigns: every,
          ...{ startDate: start_date, endDate: end_date },
        })
        return {
          ...page,
          campaigns: page.campaigns.map(({ campaign_id, project_id, name, status }) => ({
            ...{ campaign_id, project_id, name, status },
            metrics: metricsOf(delivered.get(campaign_id) ?? sumOf([])),
          })),
          count: every.length,
          totals: metricsOf(sumOf(delivered.values())),
        }
      },
    )

    app.get(
      `${path}/budget-summary`,
      {
        config,
        schema: {
          ...{
            tags,
            operationId: 'getBudgetSummary',
            summary: 'Get the budget status of the campaigns of a project',
            querystring: ListQuery,
          },
          description:
            'The page’s campaigns one by one, newest first; totals are of the campaigns of all pages that have a ' +
            'budget.',
          response: {
            200: Type.Object({
              campaigns: Type.Array(BudgetStatus),
              ...{ count, totals: Type.Object(BudgetFigures), next_cursor: NextCursor },
            }),
          },
        },
      },
      async ({ principal, query }, reply) => {
        const { limit, cursor, project_id, ...filters } = query
        requireFiltersAllowed(principal, filters)
        const scope = await recordScopeOf(principal, project_id)
        const choice = { scope, ...filters }
        const [page, every] = await Promise.all([
          listCampaigns(deps, choice, { limit, cursor }),
          readEvery(postgres, choice),
        ])
        const of = { organizationId: scope.organizationId, campaigns: every }
        const delivered = await readDelivered(readerOf(principal, reply), of)
        const spentOn = (id: string) => delivered.get(id)?.spendMicros ?? 0
        const budgeted = every.filter(({ budget }) => budget !== null)
        const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0)
        return {
          ...page,
          campaigns: page.campaigns.map((one) => budgetStatusOf(one, spentOn(one.campaign_id), now())),
          count: every.length,
          totals: budgetFigures(
            budgeted.length === 0 ? null : sum(budgeted.map(({ budget }) => Math.round(budget! * 1e6))) / 1e6,
            sum(budgeted.map(({ campaign_id }) => spentOn(campaign_id))),
          ),
        }
      },
    )
  }
