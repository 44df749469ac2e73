/** The period to which a window is compared: twelve weeks, in days. */
export const baselineDays = 84

/** The strength of one event of an organization's own site: that of a signal with full score. */
export const eventStrength = 100

/**
 * SQL: the score of a topic, an integer from 0 to 100. Its inputs are sums of the strengths (0 to 100 each)
 * of signals, and the number of days of the window. `inWindow` sums the window, and `before` the twelve weeks
 * before it.
 *
 * - w = inWindow ÷ 100: signals in the window, weighted.
 * - e = before ÷ 100 × days ÷ 84: expected signals, according to the twelve weeks before.
 * - score = 100 × w ÷ (w + e + 1), rounded, halves up.
 *
 * So one full signal without a baseline is 50, three are 75, nine 90. Constant interest stays below 50, and
 * decreases when signals stop. The formula is the saturation of term frequency of BM25, tf ÷ (tf + k), whose
 * k is 1 and grows with the expectation. See S. E. Robertson, S. Walker: Some simple effective approximations
 * to the 2-Poisson model for probabilistic weighted retrieval, SIGIR 1994. The baseline of twelve weeks is
 * common for surge scores. All numbers are integers, so the same signals give the same score anywhere, in any
 * order.
 */
export function scoreOf(inWindow: string, before: string, days: string): string {
  const least = `(${baselineDays} * ${inWindow})`
  const whole = `(${least} + ${days} * ${before} + ${baselineDays * 100})`
  return `toUInt8(intDiv(200 * ${least} + ${whole}, 2 * ${whole}))`
}
