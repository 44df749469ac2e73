import UPlot from 'uplot'
import type { TimeZone } from '../../../platform/timeZone.ts'
import { annotationMarks, type Mark } from './annotationMarks.ts'
import { type Interval, placeOf, ticksOf } from './buckets.ts'
import { type Days, daysWithin } from './daysWithin.ts'
import { axisStyle, redrawn } from './redrawn.ts'

const heightPx = 260
/** Width of a tick's label. */
const tickPx = 76
const secondMs = 1_000

/** Distances between lines of the vertical axis, and its top when all values are zero. */
const axes = {
  counts: { steps: powersOfTen([1, 2, 5]), least: 1 },
  shares: { steps: [0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5], least: 0.01 },
  durations: {
    steps: [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400].map(
      (seconds) => seconds * secondMs,
    ),
    least: 10 * secondMs,
  },
}

/** A quantity over time, and in the compared period. */
export interface Lines {
  interval: Interval
  /** The start of each point of the period, epoch milliseconds. */
  starts: readonly number[]
  /** One value for each point; null if there is none, or none yet. */
  values: readonly (number | null)[]
  /** The values of the compared period; absent without a comparison. */
  before?: readonly (number | null)[] | undefined
  /** The index of the current point, whose value still changes. */
  unfinished: number | undefined
  axis: keyof typeof axes
  /** The time zone of the points. */
  zone: TimeZone
  /** Notes at times. */
  marks: readonly Mark[]
  /** How a point's start reads at the axis. */
  tick(start: number): string
  /** Formats a value for the axis. */
  format(value: number): string
  /** Receives the point under the pointer and its distance from the left; null without one. */
  point(at: { index: number; leftPx: number } | null): void
  /** Opens the days of a point that the user clicked. */
  open(days: Days): void
}

/** Controls a drawn chart. */
export interface DrawnLines {
  /** Highlights a point, or none. */
  pointAt(index: number | null): void
  /** Opens the days of a point, unless they are all that the chart shows. */
  openAt(index: number): void
  remove(): void
}

/** Draws lines into `place`, with the unfinished part dashed. */
export function drawLines(place: HTMLElement, lines: Lines): DrawnLines {
  let plot: UPlot
  const { interval, starts, zone, open } = lines
  const openAt = (index: number | null | undefined) => {
    if (index == null || starts[index]! > Date.now()) return
    const days = daysWithin(interval, starts, index, zone)
    if (days) open(days)
  }
  const remove = redrawn(place, heightPx, () => {
    plot = draw(place, lines)
    // A tap shows the values, which a mouse shows before it clicks.
    if (matchMedia('(hover: hover)').matches && daysWithin(interval, starts, 0, zone)) {
      plot.over.classList.add('opens')
      plot.over.addEventListener('click', () => openAt(plot.cursor.idx))
    }
    return plot
  })
  return {
    remove,
    openAt,
    pointAt: (index) =>
      plot.setCursor(
        index === null
          ? { left: -1, top: -1 }
          : { left: plot.valToPos(index, 'x'), top: plot.bbox.height / devicePixelRatio / 2 },
      ),
  }
}

function draw(
  place: HTMLElement,
  { interval, starts, values, before, unfinished, axis, zone, marks, tick, format, point }: Lines,
): UPlot {
  const style = getComputedStyle(place)
  const colors = axisStyle(place)
  const color = style.getPropertyValue('--series-1').trim()
  const { steps, least } = axes[axis]
  const line = { stroke: color, width: 2, fill: `${color}1f`, points: alone }
  const isUnfinished = (index: number) => unfinished !== undefined && index >= unfinished
  const lines: (readonly (number | null)[])[] = [
    values.map((value, index) => (isUnfinished(index) ? null : value)),
    // The dashes start at the last finished point.
    values.map((value, index) => (isUnfinished(index + 1) ? value : null)),
  ]
  return new UPlot(
    {
      width: place.clientWidth,
      height: heightPx,
      legend: { show: false },
      padding: [12, 28, 0, 0],
      scales: {
        // Points are equidistant, regardless of the length of months; a single one is in the middle.
        x: { time: false, range: starts.length > 1 ? [0, starts.length - 1] : [-0.5, 0.5] },
        y: { range: (_, __, most) => [0, Math.max(least, (most ?? 0) * 1.05)] },
      },
      plugins: [annotationMarks(marks, (at) => placeOf(interval, starts, at, zone))],
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 8 } },
      axes: [
        {
          ...colors,
          size: 32,
          grid: { show: false },
          splits: ({ width }) =>
            ticksOf(interval, starts, Math.max(1, Math.floor(width / tickPx)), zone),
          values: (_, places) => places.map((place) => tick(starts[place]!)),
        },
        { ...colors, size: 64, incrs: steps, values: (_, ticks) => ticks.map(format) },
      ],
      series: [
        {},
        ...(before
          ? [{ stroke: style.getPropertyValue('--series-before'), width: 1.5, points: alone }]
          : []),
        line,
        { ...line, dash: [4, 4] },
      ],
      hooks: {
        setCursor: [
          ({ cursor: { idx, left }, bbox, valToPos }) =>
            point(
              idx === null || idx === undefined || left === undefined || left < 0
                ? null
                : { index: idx, leftPx: bbox.left / devicePixelRatio + valToPos(idx, 'x') },
            ),
        ],
      },
    },
    [starts.map((_, index) => index), ...(before ? [before] : []), ...lines] as UPlot.AlignedData,
    place,
  )
}

/** Draws a dot for a point without neighbours, which has no line. */
const alone: UPlot.Series.Points = {
  show: true,
  size: 6,
  filter: ({ data }, series) => {
    const values = Array.from<number | null | undefined>(data[series]!)
    return values.flatMap((value, index) =>
      value != null && (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null
        ? index
        : [],
    )
  },
}

function powersOfTen(digits: readonly number[]): number[] {
  return Array.from({ length: 12 }, (_, power) => digits.map((digit) => digit * 10 ** power)).flat()
}
