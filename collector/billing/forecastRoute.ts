import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { access } from '../api/access/recordAccess.ts'
import { Id, Nullable, strictObject } from '../api/http/commonSchemas.ts'
import { dateAt, dayMs } from '../platform/days.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import type { BillingDeps } from './billingDeps.ts'
import { Currency, Micros, tags } from './billingSchemas.ts'
import { readLimits } from './limits.ts'
import { currency } from './prices.ts'
import { readDailyUsage, type UsageWindow } from './usageQuery.ts'
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

/** Complete days before today that determine the average: a week, so that each day of the week counts once. */
const daysLooked = 7
/** Least part of a day that determines the average of a first day, so that a first minute is not taken for all. */
const firstPartMin = 1 / 24

interface Forecast {
  /** YYYY-MM, UTC. */
  month: string
  spent_micros: number
  daily_average_micros: number
  forecast_micros: number
}

/**
 * Forecasts the cost of a month, if each remaining day costs the average of the last week. Formula: spent
 * before today + max(today so far, average) + average × days after today. In micros, rounded. The average begins with the
 * first charge, and a first day is extrapolated.
 */
export function forecastOf(
  days: readonly { date: string; amount_micros: number }[],
  nowMs: number,
): Forecast {
  const today = dateAt(nowMs)
  const month = today.slice(0, 7)
  const sumFrom = (first: string, last: string) =>
    days
      .filter(({ date }) => date >= first && date <= last)
      .reduce((sum, { amount_micros }) => sum + amount_micros, 0)
  const yesterday = dateAt(nowMs - dayMs)
  const average = averageDay(days, nowMs)
  const before = sumFrom(`${month}-01`, yesterday)
  const soFar = sumFrom(today, today)
  const [year, monthNumber, day] = today.split('-').map(Number) as [number, number, number]
  const daysLeft = new Date(Date.UTC(year, monthNumber, 0)).getUTCDate() - day
  return {
    month,
    spent_micros: before + soFar,
    daily_average_micros: Math.round(average),
    forecast_micros: Math.round(before + Math.max(soFar, average) + average * daysLeft),
  }
}

/** The average cost of a day: of the complete days since the first charge of the last week, otherwise of today. */
function averageDay(
  days: readonly { date: string; amount_micros: number }[],
  nowMs: number,
): number {
  const todayMs = nowMs - (nowMs % dayMs)
  const [today, weekStart] = [dateAt(nowMs), dateAt(nowMs - daysLooked * dayMs)]
  const charged = days.filter(({ amount_micros }) => amount_micros > 0)
  const ofWeek = charged.filter(({ date }) => date >= weekStart && date < today)
  const sum = (some: typeof charged) =>
    some.reduce((all, { amount_micros }) => all + amount_micros, 0)
  if (ofWeek.length > 0) {
    // Charges before the week tell that its first days without a charge were cheap, not that they were before the first.
    const isOlder = charged.some(({ date }) => date < weekStart)
    const first = Math.min(...ofWeek.map(({ date }) => Date.parse(date)))
    return sum(ofWeek) / (isOlder ? daysLooked : (todayMs - first) / dayMs)
  }
  const isFirst = charged.every(({ date }) => date === today)
  return isFirst ? sum(charged) / Math.max((nowMs - todayMs) / dayMs, firstPartMin) : 0
}

async function readForecast(
  postgres: Postgres,
  { organizationId, projectId }: { organizationId: string | null; projectId: string | null },
  nowMs: number,
): Promise<Forecast> {
  const today = dateAt(nowMs)
  const [monthStart, weekStart] = [`${today.slice(0, 7)}-01`, dateAt(nowMs - daysLooked * dayMs)]
  const days = await readDailyUsage(postgres, {
    organizationId,
    projectId,
    endDate: today,
    startDate: [monthStart, weekStart].sort()[0]!,
  })
  return forecastOf(days, nowMs)
}
