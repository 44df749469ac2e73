import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { access } from '../../api/access/recordAccess.ts'
import { NextCursor } from '../../api/http/pagination.ts'
import { pageCounts, readChosen, readerOf } from './campaignReports.ts'
import {
  ById,
  Campaign,
  Daily,
  Metrics,
  PerformanceQuery,
  SummaryQuery,
  tags,
} from './campaignSchemas.ts'
import { readCampaign } from './campaigns.ts'
import type { CampaignsDeps } from './campaignsDeps.ts'
import { requireDaysInOrder } from './daysInOrder.ts'
import { dailyOf, metricsOf, readDaily, readDelivered, sumOf } from './performance.ts'

const path = '/api/v1/campaigns'
const { campaign_id, project_id, name, status } = Campaign.properties

/** Routes for campaign performance (spec: Campaign performance), from the DSP's events. */
export const performanceRoutes =
  (deps: CampaignsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, recordScopeOf } = deps

    app.get(
      `${path}/:campaign_id/performance`,
      {
        config: { access },
        schema: {
          tags,
          operationId: 'getCampaignPerformance',
          summary: 'Get the performance of a campaign',
          params: ById,
          querystring: PerformanceQuery,
          description:
            'Returns totals of all days, or of the requested days. Days without events are omitted.',
          response: { 200: Type.Object({ campaign_id, metrics: Metrics, daily: Daily }) },
        },
      },
      async ({ principal, params, query }, reply) => {
        requireDaysInOrder(query)
        const scope = await recordScopeOf(principal, query.project_id)
        const campaign = await readCampaign(postgres, scope, params.campaign_id)
        const days = await readDaily(readerOf(deps, principal, reply), {
          organizationId: scope.organizationId,
          campaigns: [campaign],
          startDate: query.start_date,
          endDate: query.end_date,
        })
        return {
          campaign_id: campaign.campaign_id,
          metrics: metricsOf(sumOf(days.values())),
          daily: dailyOf(days),
        }
      },
    )

    app.get(
      `${path}/performance-summary`,
      {
        config: { access },
        schema: {
          tags,
          operationId: 'getPerformanceSummary',
          summary: 'List the performance of campaigns',
          querystring: SummaryQuery,
          description: 'Returns the campaigns of the page, newest first. Totals cover all pages.',
          response: {
            200: Type.Object({
              campaigns: Type.Array(
                Type.Object({ campaign_id, project_id, name, status, metrics: Metrics }),
              ),
              ...pageCounts,
              totals: Metrics,
              next_cursor: NextCursor,
            }),
          },
        },
      },
      async ({ principal, query }, reply) => {
        const { start_date, end_date, ...chosen } = query
        requireDaysInOrder(query)
        const { organizationId, page, every } = await readChosen(deps, principal, chosen)
        const delivered = await readDelivered(readerOf(deps, principal, reply), {
          organizationId,
          campaigns: every,
          startDate: start_date,
          endDate: end_date,
        })
        return {
          ...page,
          campaigns: page.campaigns.map(({ campaign_id, project_id, name, status }) => ({
            campaign_id,
            project_id,
            name,
            status,
            metrics: metricsOf(delivered.get(campaign_id) ?? sumOf([])),
          })),
          count: every.length,
          total: every.length,
          totals: metricsOf(sumOf(delivered.values())),
        }
      },
    )
  }
