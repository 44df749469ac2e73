import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { access } from '../api/access/recordAccess.ts'
import { Choice, Day, Id, Nullable } from '../api/http/commonSchemas.ts'
import type { BillingDeps } from './billingDeps.ts'
import { Currency, MeterName, tags } from './billingSchemas.ts'
import { currency } from './prices.ts'
import { readUsageByCaller } from './usageByCaller.ts'
import { readDailyUsage, readUsage, readUsageByMeter, type UsageWindow } from './usageQuery.ts'
import { readUsageWindow, UsageParameters, usageOf } from './usageWindow.ts'

const counts = {
  records: Type.Integer({ description: 'Records charged, minus refunds.' }),
  free_records: Type.Integer({ description: 'Charged records that the free allowance covered.' }),
  amount_micros: Type.Integer({ description: 'Cost in millionths of the currency.' }),
}

const CallerUsage = Type.Object({
  caller_id: Id,
  kind: Nullable(Choice(['key', 'member', 'export']), {
    description: 'Current name. Null if it was deleted.',
  }),
  name: Nullable(Type.String()),
  key_prefix: Nullable(Type.String()),
  meter: MeterName,
  ...counts,
})

const window = { project_id: Nullable(Id), start_date: Day, end_date: Day, currency: Currency }

/** GET /api/v1/billing/usage*: charges of the organization or one project. */
export const usageRoutes =
  (deps: BillingDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/billing/usage',
      {
        config: { access },
        schema: {
          tags,
          description: usageOf,
          operationId: 'getUsage',
          summary: 'Get total usage',
          querystring: UsageParameters,
          response: { 200: Type.Object({ ...window, ...counts }) },
        },
      },
      async ({ principal, query }) => {
        const window = await readUsageWindow(deps, principal, query)
        return { ...publicWindow(window), ...(await readUsage(deps.postgres, window)) }
      },
    )

    app.get(
      '/api/v1/billing/usage/by-meter',
      {
        config: { access },
        schema: {
          tags,
          description: usageOf,
          operationId: 'getUsageByMeter',
          summary: 'Get usage by meter',
          querystring: UsageParameters,
          response: {
            200: Type.Object({
              ...window,
              meters: Type.Array(Type.Object({ meter: MeterName, ...counts })),
            }),
          },
        },
      },
      async ({ principal, query }) => {
        const window = await readUsageWindow(deps, principal, query)
        return { ...publicWindow(window), meters: await readUsageByMeter(deps.postgres, window) }
      },
    )

    app.get(
      '/api/v1/billing/usage/daily-by-meter',
      {
        config: { access },
        schema: {
          tags,
          operationId: 'getDailyUsageByMeter',
          summary: 'Get daily usage by meter',
          querystring: UsageParameters,
          description: `${usageOf} Omits days without usage.`,
          response: {
            200: Type.Object({
              ...window,
              daily: Type.Array(Type.Object({ date: Day, meter: MeterName, ...counts })),
            }),
          },
        },
      },
      async ({ principal, query }) => {
        const window = await readUsageWindow(deps, principal, query)
        return { ...publicWindow(window), daily: await readDailyUsage(deps.postgres, window) }
      },
    )

    app.get(
      '/api/v1/billing/usage/by-key',
      {
        config: { access },
        schema: {
          tags,
          operationId: 'getUsageByKey',
          summary: 'Get usage by API key',
          querystring: UsageParameters,
          description: `${usageOf} One row for each key, member or scheduled export and each meter. Sorted by cost, highest first.`,
          response: { 200: Type.Object({ ...window, callers: Type.Array(CallerUsage) }) },
        },
      },
      async ({ principal, query }) => {
        const window = await readUsageWindow(deps, principal, query)
        return { ...publicWindow(window), callers: await readUsageByCaller(deps.postgres, window) }
      },
    )
  }

const publicWindow = ({ projectId, startDate, endDate }: UsageWindow) => ({
  project_id: projectId,
  start_date: startDate,
  end_date: endDate,
  currency,
})
