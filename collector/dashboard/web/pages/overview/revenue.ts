import type { Answer } from '../../../../api/client/index.ts'

type Goal = Answer<'getAnalyticsConversions'>['conversions'][number]
export type Revenue = NonNullable<Goal['revenue']>

/** Adds up the revenue of these goals by currency, in the order of the goals. Amounts are not converted. */
export function revenueOf(goals: readonly Goal[]): Revenue[] {
  const sums = new Map<string, number>()
  for (const { revenue } of goals)
    if (revenue) sums.set(revenue.currency, (sums.get(revenue.currency) ?? 0) + revenue.value)
  return [...sums].map(([currency, value]) => ({ currency, value }))
}
