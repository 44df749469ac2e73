/** Runs a pattern match. If the patterns of the plan have used up their time, returns true without a match. */
export type PatternTimer = (match: () => boolean) => boolean

/** The time limit of one plan's patterns in each second. */
const msOfSecond = 100

/**
 * Limits the time of a plan's patterns. Their cost for each character depends on the pattern and on the text, so no
 * limit of their sizes bounds it.
 */
export function createPatternTimer(): PatternTimer {
  let endOfSecond = 0
  let usedMs = 0
  return (match) => {
    const start = performance.now()
    if (start >= endOfSecond) {
      endOfSecond = start + 1_000
      usedMs = 0
    }
    if (usedMs >= msOfSecond) return true
    const isMatch = match()
    usedMs += performance.now() - start
    return isMatch
  }
}
