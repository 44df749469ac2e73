import type UPlot from 'uplot'

/** Counts start at zero. */
export const fromZero: UPlot.Range.Function = (_, __, most) => [0, Math.max(1, most * 1.05)]
