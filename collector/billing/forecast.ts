import type { Postgres } from '../platform/postgres/pool.ts'
import { readDailyUsage } from './usageQuery.ts'

const dayMs = 86_400_000
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
  const today = dayOf(nowMs)
  const month = today.slice(0, 7)
  const sumFrom = (first: string, last: string) =>
    days
      .filter(({ date }) => date >= first && date <= last)
      .reduce((sum, { amount_micros }) => sum + amount_micros, 0)
  const yesterday = dayOf(nowMs - dayMs)
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
  const [today, weekStart] = [dayOf(nowMs), dayOf(nowMs - daysLooked * dayMs)]
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

export async function readForecast(
  postgres: Postgres,
  { organizationId, projectId }: { organizationId: string | null; projectId: string | null },
  nowMs: number,
): Promise<Forecast> {
  const today = dayOf(nowMs)
  const [monthStart, weekStart] = [`${today.slice(0, 7)}-01`, dayOf(nowMs - daysLooked * dayMs)]
  const days = await readDailyUsage(postgres, {
    organizationId,
    projectId,
    endDate: today,
    startDate: [monthStart, weekStart].sort()[0]!,
  })
  return forecastOf(days, nowMs)
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
