import UPlot from 'uplot'
import { fromZero } from './ranges.ts'
import { axisStyle, redrawn } from './redrawn.ts'

/** One quantity of the stack. */
export interface Series {
  name: string
  /** One value for each day. */
  values: number[]
}

const colors = [
  '#2a9d7c',
  '#3f7fd0',
  '#d08a2e',
  '#b2568f',
  '#7a6ad0',
  '#5d8a2f',
  '#c2564b',
  '#6b7f8c',
]
const heightPx = 260

/** Stacked quantities by day, and their texts. */
export interface Bars {
  /** Dates such as 2026-11-29. */
  days: readonly string[]
  series: readonly Series[]
  /** How a date reads at the axis. */
  tick(day: string): string
  /** How a date reads in the legend. */
  name(day: string): string
  /** Formats a value. */
  format(value: number): string
}

/** Draws stacked bars into `place`, and adapts them to its width and colors. Returns a function that removes them. */
export function drawBars(place: HTMLElement, bars: Bars): () => void {
  return redrawn(place, heightPx, () => draw(place, bars))
}

function draw(place: HTMLElement, { days, series, tick, name, format }: Bars): UPlot {
  const axis = axisStyle(place)
  // Each series is drawn over the previous one, so its bars are the sum of its values and those of the later
  // series.
  const stacked = days.map((_, day) => {
    let sum = 0
    return series.toReversed().map(({ values }) => (sum += values[day]!))
  })
  return new UPlot(
    {
      width: place.clientWidth,
      height: heightPx,
      tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
      scales: {
        x: { range: (_, first, last) => [first - halfDay, last + halfDay] },
        y: { range: fromZero },
      },
      cursor: { points: { show: false }, drag: { x: false, y: false } },
      axes: [
        {
          ...axis,
          grid: { show: false },
          incrs: tickDays.map((days) => days * daySeconds),
          values: (_, ticks) => ticks.map((seconds) => tick(dayOf(seconds))),
        },
        {
          ...axis,
          size: 64,
          values: (_, ticks) => ticks.map((tick) => (Number.isInteger(tick) ? format(tick) : '')),
        },
      ],
      series: [
        {
          label: 'Day',
          value: (_, seconds) => (seconds === null ? 'all' : name(dayOf(seconds))),
        },
        ...series.map(({ name, values }, index) => ({
          label: name,
          fill: colors[index % colors.length]!,
          width: 0,
          paths: UPlot.paths.bars!({ size: [0.7, 48] }),
          points: { show: false },
          // The value of the series itself, not the drawn sum; the sum of all days without a pointer.
          value: (_: UPlot, __: number, ___: number, day: number | null) =>
            format(day === null ? values.reduce((sum, value) => sum + value, 0) : values[day]!),
        })),
      ],
    },
    [
      days.map((day) => Date.parse(day) / 1000),
      ...series.map((_, index) => stacked.map((sums) => sums[series.length - 1 - index]!)),
    ],
    place,
  )
}

const daySeconds = 86_400
const halfDay = daySeconds / 2
/** Possible distances between ticks. */
const tickDays = [1, 2, 7, 14, 28, 56, 112, 364]

const dayOf = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10)
