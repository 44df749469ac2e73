/** The limits of "good" and "poor" for each metric (web.dev/articles/vitals). */
export const vitals = {
  lcp: { label: 'Loading (LCP)', unit: 'ms', good: 2_500, poor: 4_000 },
  inp: { label: 'Reaction (INP)', unit: 'ms', good: 200, poor: 500 },
  cls: { label: 'Stability (CLS)', unit: '', good: 0.1, poor: 0.25 },
} as const
export type Vital = keyof typeof vitals
export type Rating = 'good' | 'fair' | 'poor'

/** Rates a value at the 75th percentile as web.dev does. */
export function rate(name: Vital, value: number): Rating {
  const { good, poor } = vitals[name]
  if (value <= good) return 'good'
  return value > poor ? 'poor' : 'fair'
}

/** "1.8 s", "140 ms", "0.05". */
export function textOfVital(name: Vital, value: number): string {
  if (vitals[name].unit === '') return value.toFixed(2)
  return value < 1_000 ? `${Math.round(value)} ms` : `${(value / 1_000).toFixed(1)} s`
}
