import type UPlot from 'uplot'

/** Counts begin at nothing. */
export const fromZero: UPlot.Range.Function = (_, __, most) => [0, Math.max(1, most * 1.05)]

/**
 * The range of the time axis, in seconds: from the first point to the last. A chart with a single point gets
 * half a point's length on each side. An example is today in the first hour of a day. uPlot alone would add a
 * tenth of the number, which is years.
 */
export const aroundOnePoint =
  (halfStep: number): UPlot.Range.Function =>
  (_, first, last) =>
    first === last ? [first - halfStep, last + halfStep] : [first, last]
