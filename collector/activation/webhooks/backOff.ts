/**
 * How long after each failed try the next one is made, in seconds: the schedule that Standard Webhooks recommends, over
 * three days.
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

/** So that messages which failed together are not all tried together again. */
const jitter = 0.1
const retryAfterSecondsMax = 86_400

/** Seconds until the next try after `attempts` of them, never sooner than the receiver asks; null: no more. */
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

/** What Retry-After says, as seconds or as a date; 0 when it says nothing. */
function secondsOf(retryAfter: string | undefined, nowMs: number): number {
  if (retryAfter === undefined) return 0
  const seconds = /^\d+$/.test(retryAfter)
    ? Number(retryAfter)
    : (Date.parse(retryAfter) - nowMs) / 1000
  return Number.isNaN(seconds) ? 0 : Math.max(0, seconds)
}
