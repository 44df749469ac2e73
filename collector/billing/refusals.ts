import { ApiError } from '../api/http/errors.ts'
import { currency } from './prices.ts'

/** The reason why billing refuses records, in the format of consider_usage.sql. */
export type Refusal =
  | { kind: 'shut_off' }
  | { kind: 'budget'; of: 'organization' | 'project'; monthly_micros: number; spent_micros: number }
  | {
      kind: 'request_too_large' | 'limit_reached'
      period: 'day' | 'month'
      limit: number
      used: number
    }

/** The meter, kind of caller and time of a refused request. */
export interface Refused {
  meter: string
  isProjectKey: boolean
  atMs: number
}

/**
 * A refusal as an answer (spec: Errors and limits): 402 "budget_exceeded", or 429 "platform_cap_exceeded" with `kind`,
 * `message` and, where waiting helps, `resets_at` and Retry-After.
 */
export function refusalError(refusal: Refusal, refused: Refused): ApiError {
  return refusal.kind === 'budget'
    ? budgetExceeded(refusal, refused)
    : capExceeded(refusal, refused)
}

function budgetExceeded(
  { of, monthly_micros, spent_micros }: Extract<Refusal, { kind: 'budget' }>,
  { isProjectKey, atMs }: Refused,
): ApiError {
  // A project key must not learn the cost of the organization (spec: Project key).
  const figures =
    isProjectKey && of === 'organization' ? {} : { monthly_micros, spent_micros, currency }
  return new ApiError(
    402,
    'budget_exceeded',
    `The ${of}’s budget of this month does not cover this request.`,
    {
      body: { budget: of, ...figures, resets_at: endOf('month', atMs).toISOString() },
    },
  )
}

function capExceeded(
  refusal: Exclude<Refusal, { kind: 'budget' }>,
  { meter, atMs }: Refused,
): ApiError {
  const { kind } = refusal
  if (kind === 'shut_off')
    return new ApiError(
      429,
      'platform_cap_exceeded',
      'Usage is paused for this account. Ask the operator of this service.',
      { body: { kind } },
    )
  const { period, limit, used } = refusal
  const limitText = `The limit is ${limit} ${meter} records a ${period}.`
  const figures = { meter, period, limit_records: limit, used_records: used }
  if (kind === 'request_too_large')
    return new ApiError(
      429,
      'platform_cap_exceeded',
      `${limitText} This request alone exceeds it. Send a smaller one.`,
      { body: { kind, ...figures } },
    )
  const resetsAt = endOf(period, atMs)
  return limitReached(
    `${limitText} It is used up until ${resetsAt.toISOString()}.`,
    figures,
    resetsAt,
    atMs,
  )
}

/** The error of a limit that is used up until a time. */
export function limitReached(
  message: string,
  figures: { meter: string; period: 'day' | 'month'; limit_records: number },
  resetsAt: Date,
  atMs: number,
): ApiError {
  return new ApiError(429, 'platform_cap_exceeded', message, {
    body: { kind: 'limit_reached', ...figures, resets_at: resetsAt.toISOString() },
    headers: { 'retry-after': String(Math.max(1, Math.ceil((resetsAt.getTime() - atMs) / 1000))) },
  })
}

/** Midnight UTC, or the 1st of next month UTC. */
export function endOf(period: 'day' | 'month', atMs: number): Date {
  const at = new Date(atMs)
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()]
  return new Date(period === 'day' ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1, 1))
}
