/** How many members a build would have, and the 95 % interval. */
export interface Estimate {
  readonly count: number
  readonly low: number
  readonly high: number
}

/** The range of hashes that samples are taken from: 16 bits. */
export const sharesAll = 65_536

/** z of the 95 % interval. */
const z = 1.96
/** Where none was found, there are with 95 % no more than this many in as much again ("rule of three"). */
const ruleOfThree = 3

/**
 * Estimates the number of members, from those found among `below` of 65,536 equal shares, chosen by a hash.
 * It is the normal approximation of a binomial share, with its finite population correction.
 */
export function estimateOf(found: number, below: number | null, limit: number | null): Estimate {
  const most = limit ?? Number.MAX_SAFE_INTEGER
  const cut = (count: number) => Math.min(Math.max(0, Math.round(count)), most)
  if (below === null) return { count: cut(found), low: cut(found), high: cut(found) }
  const scale = sharesAll / below
  const spread = found === 0 ? ruleOfThree : z * Math.sqrt(found * (1 - 1 / scale))
  return {
    count: cut(found * scale),
    low: cut(Math.max(found, (found - spread) * scale)),
    high: cut((found + spread) * scale),
  }
}
