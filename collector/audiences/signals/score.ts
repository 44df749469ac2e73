/** The days that a window is compared with: twelve weeks. */
export const baselineDays = 84

/** How much one event of an organization's own site counts, in the unit of signals: as a signal of full score. */
export const eventStrength = 100

/**
 * SQL: the score of a topic, a whole number from 0 to 100, from the sums of the strengths (0 to 100 each) of the signals
 * in the window (`inWindow`) and in the twelve weeks before it (`before`), and the number of days of the window.
 *
 *     w = inWindow ÷ 100                      signals in the window, weighed
 *     e = before ÷ 100 × days ÷ 84            as many as the twelve weeks before would have one expect
 *     score = 100 × w ÷ (w + e + 1)           rounded, halves up
 *
 * So one full signal out of nowhere is 50, three are 75, nine 90; interest that goes on as before stays below 50, and
 * falls off again when signals stop. It is the saturation of term frequency of BM25, tf ÷ (tf + k), whose k is 1 and
 * grows with what is to be expected (S. E. Robertson, S. Walker: Some simple effective approximations to the 2-Poisson
 * model for probabilistic weighted retrieval, SIGIR 1994); the baseline of twelve weeks is that of surge scores in the
 * trade. All of it is whole numbers, so the same signals give the same score anywhere, in whatever order they are added.
 */
export function scoreOf(inWindow: string, before: string, days: string): string {
  const least = `(${baselineDays} * ${inWindow})`
  const whole = `(${least} + ${days} * ${before} + ${baselineDays * 100})`
  return `toUInt8(intDiv(200 * ${least} + ${whole}, 2 * ${whole}))`
}
