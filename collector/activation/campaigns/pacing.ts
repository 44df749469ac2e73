import type { Static } from 'typebox'
import { dayMs } from '../../platform/days.ts'
import type { BudgetStatus as BudgetStatusSchema, Pace } from './campaignSchemas.ts'
import type { Campaign } from './campaigns.ts'
import { toSixDecimals } from './performance.ts'

export type BudgetStatus = Static<typeof BudgetStatusSchema>

/** The tolerated deviation of spend from an even one, in both directions. */
const tolerance = 0.1

/** Compares a campaign's spend with its budget and flight, at a time in milliseconds since 1970. */
export function budgetStatusOf(
  campaign: Campaign,
  spendMicros: number,
  nowMs: number,
): BudgetStatus {
  const { campaign_id, project_id, name, status, budget, start_date, end_date } = campaign
  const startMs = Date.parse(start_date)
  const endMs = end_date === null ? null : Date.parse(end_date) + dayMs
  const elapsed =
    endMs === null ? null : Math.min(1, Math.max(0, (nowMs - startMs) / (endMs - startMs)))
  const expected = budget === null || elapsed === null ? null : budget * elapsed
  const spend = spendMicros / 1e6
  const ratio = expected ? spend / expected : null
  return {
    campaign_id,
    project_id,
    name,
    status,
    ...budgetFigures(budget, spendMicros),
    pacing: {
      health: paceOf(),
      start_date,
      end_date,
      elapsed: rounded(elapsed),
      expected_spend: rounded(expected),
      ratio: rounded(ratio),
    },
  }

  function paceOf(): Static<typeof Pace> {
    if (budget === null) return 'no_budget'
    if (spend >= budget) return 'exhausted'
    if (nowMs < startMs) return 'not_started'
    if (endMs === null) return 'open_ended'
    if (nowMs >= endMs) return 'ended'
    if (ratio !== null && ratio < 1 - tolerance) return 'underpacing'
    if (ratio !== null && ratio > 1 + tolerance) return 'overpacing'
    return 'on_track'
  }
}

export function budgetFigures(budget: number | null, spendMicros: number) {
  const spend = spendMicros / 1e6
  return {
    budget,
    spend,
    remaining: budget === null ? null : toSixDecimals(budget - spend),
    utilization: budget ? toSixDecimals(spend / budget) : null,
  }
}

const rounded = (number: number | null): number | null =>
  number === null ? null : toSixDecimals(number)
