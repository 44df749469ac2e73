/** The value in the middle; between the two in the middle of an even number. */
export const median = (values: readonly number[]): number => percentile(values, 50)

/** The value that `p` percent are not above, between neighbours in proportion. NaN for no values. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const at = ((sorted.length - 1) * p) / 100
  const below = sorted[Math.floor(at)] ?? Number.NaN
  const above = sorted[Math.ceil(at)] ?? Number.NaN
  return below + (above - below) * (at - Math.floor(at))
}

/** The medians of two measurements, and of their ratios. */
export interface Interleaved {
  a: number
  b: number
  ratio: number
  ratios: number[]
}

/**
 * Measures `a` and `b` in turn, `repeats` times, so that what else the machine does meets both alike. `ratio` is the
 * median of a ÷ b within each pair, `ratios` are those of all.
 */
export async function interleave(
  repeats: number,
  a: () => Promise<number>,
  b: () => Promise<number>,
): Promise<Interleaved> {
  const pairs: { a: number; b: number }[] = []
  for (let i = 0; i < repeats; i++) pairs.push({ a: await a(), b: await b() })
  const ratios = pairs.map((pair) => pair.a / pair.b)
  return {
    a: median(pairs.map((pair) => pair.a)),
    b: median(pairs.map((pair) => pair.b)),
    ratio: median(ratios),
    ratios,
  }
}
