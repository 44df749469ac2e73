import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { Choice, Day, exactly, Id, Nullable } from '../http/schemas.ts'
import type { BillingDeps } from './deps.ts'
import { readForecast } from './forecast.ts'
import { readLimits } from './limits.ts'
import { currency } from './prices.ts'
import { Currency, MeterName, Micros, tags } from './schemas.ts'
import { readUsageByCaller } from './usageByCaller.ts'
import { readDailyUsage, readUsage, readUsageByMeter, type UsageWindow } from './usageQuery.ts'
import { readUsageWindow, UsageParameters } from './usageWindow.ts'

const counts = {
  records: Type.Integer({ description: 'Records charged, less those refunded.' }),
  free_records: Type.Integer({ description: 'Of these, how many the free allowance covered.' }),
  amount_micros: Type.Integer({ description: 'What they cost, in millionths of the currency.' }),
}

const CallerUsage = Type.Object({
  caller_id: Id,
  kind: Nullable(Choice(['key', 'member', 'export']), { description: 'Null: it is there no more.' }),
  name: Nullable(Type.String()),
  key_prefix: Nullable(Type.String()),
  meter: MeterName,
  ...counts,
})

const window = { project_id: Nullable(Id), start_date: Day, end_date: Day, currency: Currency }

/** GET /api/v1/billing/usage*: what was charged, for the organization or one project. */
export const usageRoutes =
  (deps: BillingDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const config = {
      access: { to: 'key', projectKeys: 'own project', keyRole: 'read', limit: 'data', members: true },
    } as const
    const description =
      'Of the whole organization, or of one project: what its keys read, and what others read of its data. A key of ' +
      'a project, and a plain member, get their own projects only. Test keys are never billed: theirs is nothing.'

    app.get(
      '/api/v1/billing/usage',
      {
        config,
        schema: {
          ...{
            tags,
            description,
            operationId: 'getUsage',
            summary: 'Get total usage',
            querystring: UsageParameters,
          },
          response: { 200: Type.Object({ ...window, ...counts }) },
        },
      },
      async ({ principal, query }) => {
        const asked = await readUsageWindow(deps, principal, query)
        return { ...publicWindow(asked), ...(await readUsage(deps.postgres, asked)) }
      },
    )

    app.get(
      '/api/v1/billing/usage/by-meter',
      {
        config,
        schema: {
          ...{
            tags,
            description,
            operationId: 'getUsageByMeter',
            summary: 'Get usage by meter',
            querystring: UsageParameters,
          },
          response: {
            200: Type.Object({
              ...window,
              meters: Type.Array(Type.Object({ meter: MeterName, ...counts })),
            }),
          },
        },
      },
      async ({ principal, query }) => {
        const asked = await readUsageWindow(deps, principal, query)
        return { ...publicWindow(asked), meters: await readUsageByMeter(deps.postgres, asked) }
      },
    )

    app.get(
      '/api/v1/billing/usage/daily-by-meter',
      {
        config,
        schema: {
          ...{
            tags,
            operationId: 'getDailyUsageByMeter',
            summary: 'Get daily usage by meter',
            querystring: UsageParameters,
          },
          description: `${description} Days without usage are left out.`,
          response: {
            200: Type.Object({
              ...window,
              daily: Type.Array(Type.Object({ date: Day, meter: MeterName, ...counts })),
            }),
          },
        },
      },
      async ({ principal, query }) => {
        const asked = await readUsageWindow(deps, principal, query)
        return { ...publicWindow(asked), daily: await readDailyUsage(deps.postgres, asked) }
      },
    )

    app.get(
      '/api/v1/billing/usage/by-key',
      {
        config,
        schema: {
          ...{
            tags,
            operationId: 'getUsageByKey',
            summary: 'Get usage by API key',
            querystring: UsageParameters,
          },
          description: `${description} Of each key, member or scheduled export and each meter, the dearest first.`,
          response: { 200: Type.Object({ ...window, callers: Type.Array(CallerUsage) }) },
        },
      },
      async ({ principal, query }) => {
        const asked = await readUsageWindow(deps, principal, query)
        return { ...publicWindow(asked), callers: await readUsageByCaller(deps.postgres, asked) }
      },
    )

    app.get(
      '/api/v1/billing/usage/forecast',
      {
        config,
        schema: {
          ...{ tags, operationId: 'getUsageForecast', summary: 'Get the forecast of this month’s cost' },
          description:
            `${description} If each day that is left costs what those of the last week did on average: what was ` +
            'spent before today, today as far as it is but at least an average day, and an average day for each ' +
            'after it.',
          querystring: exactly({ project_id: Type.Optional(Id) }),
          response: {
            200: Type.Object({
              project_id: Nullable(Id),
              month: Type.String({ description: 'YYYY-MM, UTC.' }),
              currency: Currency,
              spent_micros: Micros('Spent so far.'),
              daily_average_micros: Micros('Of the seven days before today.'),
              forecast_micros: Micros('What the month will have cost.'),
              budget_micros: Nullable(Micros('Most that the month may cost; null: anything.')),
            }),
          },
        },
      },
      async ({ principal, query }) => {
        const asked = await readUsageWindow(deps, principal, query)
        const [forecast, budget_micros] = await Promise.all([
          readForecast(deps.postgres, asked, deps.now()),
          readBudget(deps, asked),
        ])
        return { project_id: asked.projectId, currency, ...forecast, budget_micros }
      },
    )
  }

/** The organization's budget, or that of one project; null without. */
async function readBudget(
  { postgres, now }: BillingDeps,
  { organizationId, projectId }: UsageWindow,
): Promise<number | null> {
  if (organizationId === null) return null
  const { budgets } = await readLimits(postgres, organizationId, now())
  return budgets.find(({ project_id }) => project_id === projectId)?.monthly_micros ?? null
}

const publicWindow = ({ projectId, startDate, endDate }: UsageWindow) => ({
  project_id: projectId,
  start_date: startDate,
  end_date: endDate,
  currency,
})
