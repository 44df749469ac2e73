import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { access } from '../api/access/recordAccess.ts'
import { Id, Nullable, strictObject } from '../api/http/commonSchemas.ts'
import type { BillingDeps } from './billingDeps.ts'
import { Currency, Micros, tags } from './billingSchemas.ts'
import { readForecast } from './forecast.ts'
import { readLimits } from './limits.ts'
import { currency } from './prices.ts'
import type { UsageWindow } from './usageQuery.ts'
import { readUsageWindow, usageOf } from './usageWindow.ts'

/** GET /api/v1/billing/usage/forecast: the forecast cost of the month, with its budget. */
export const forecastRoute =
  (deps: BillingDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/billing/usage/forecast',
      {
        config: { access },
        schema: {
          tags,
          operationId: 'getUsageForecast',
          summary: 'Get the forecast of this month’s cost',
          description:
            `${usageOf} The forecast adds the cost until yesterday, the cost of today, and an average day for each day that ` +
            'is left. Today counts with at least the cost of an average day. The average is that of the last seven days, or of the days since the first charge. On the first day, it is the cost so far for a complete day.',
          querystring: strictObject({ project_id: Type.Optional(Id) }),
          response: {
            200: Type.Object({
              project_id: Nullable(Id),
              month: Type.String({ description: 'YYYY-MM, UTC.' }),
              currency: Currency,
              spent_micros: Micros('Cost of the month so far.'),
              daily_average_micros: Micros(
                'Average cost a day, over the seven days before today, or since the first charge.',
              ),
              forecast_micros: Micros('Forecast cost of the complete month.'),
              budget_micros: Nullable(Micros('Budget of the month. Null without a budget.')),
            }),
          },
        },
      },
      async ({ principal, query }) => {
        const window = await readUsageWindow(deps, principal, query)
        const [forecast, budget_micros] = await Promise.all([
          readForecast(deps.postgres, window, deps.now()),
          readBudget(deps, window),
        ])
        return { project_id: window.projectId, currency, ...forecast, budget_micros }
      },
    )
  }

/** The budget of the organization, or of one project; null without a budget. */
async function readBudget(
  { postgres, now }: BillingDeps,
  { organizationId, projectId }: UsageWindow,
): Promise<number | null> {
  if (organizationId === null) return null
  const { budgets } = await readLimits(postgres, organizationId, now())
  return budgets.find(({ project_id }) => project_id === projectId)?.monthly_micros ?? null
}
