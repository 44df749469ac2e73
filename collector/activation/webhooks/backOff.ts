/**
 * Delays after failed tries, in seconds: the schedule of Standard Webhooks, over three days.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md#deliverability-and-reliability
 */
const waits = [
  5,
  5 * 60,
  30 * 60,
  2 * 3_600,
  5 * 3_600,
  10 * 3_600,
  14 * 3_600,
  20 * 3_600,
  24 * 3_600,
]

/** Spreads the retries of messages that failed together. */
const jitter = 0.1
const retryAfterSecondsMax = 86_400

/**
 * Returns the seconds until the next try after `attempts` of them, at least the receiver's Retry-After; null:
 * no more tries.
 */
export function waitAfter(
  attempts: number,
  retryAfter: string | undefined,
  nowMs: number,
  random = Math.random(),
): number | null {
  const wait = waits[attempts - 1]
  if (wait === undefined) return null
  return Math.max(
    wait * (1 + jitter * random),
    Math.min(secondsOf(retryAfter, nowMs), retryAfterSecondsMax),
  )
}

/** Returns the seconds of a Retry-After, given as seconds or as a date; 0 without one. */
function secondsOf(retryAfter: string | undefined, nowMs: number): number {
  if (retryAfter === undefined) return 0
  const seconds = /^\d+$/.test(retryAfter)
    ? Number(retryAfter)
    : (Date.parse(retryAfter) - nowMs) / 1000
  return Number.isNaN(seconds) ? 0 : Math.max(0, seconds)
}
