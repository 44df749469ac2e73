import UPlot from 'uplot'
import { annotationMarks, type Mark } from './annotationMarks.ts'
import { aroundOnePoint, fromZero } from './ranges.ts'
import { axisStyle, redrawn } from './redrawn.ts'

const heightPx = 260

/** A quantity over time, and that of the period before. */
interface Lines {
  /** When each point begins, epoch milliseconds. */
  starts: number[]
  /** How long a point lasts, milliseconds: the width of a chart that has only one. */
  stepMs: number
  name: string
  values: number[]
  /** Point for point; absent where nothing is compared. */
  before?: number[] | undefined
  /** Notes at times. */
  marks?: readonly Mark[]
  /** How a point's beginning reads. */
  nameOfStart(start: number): string
  /** How a value reads. */
  format(value: number): string
}

/** Draws lines into `place`, the period before dashed. Returns what removes them. */
export function drawLines(place: HTMLElement, lines: Lines): () => void {
  return redrawn(place, heightPx, () => draw(place, lines))
}

function draw(
  place: HTMLElement,
  { starts, stepMs, name, values, before, marks = [], nameOfStart, format }: Lines,
): UPlot {
  const style = getComputedStyle(place)
  const axis = axisStyle(place)
  const color = style.getPropertyValue('--series-1').trim()
  const hasOnePoint = starts.length === 1
  const value = (_: UPlot, value: number | null) => (value === null ? '' : format(value))
  return new UPlot(
    {
      width: place.clientWidth,
      height: heightPx,
      tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
      scales: { x: { range: aroundOnePoint(stepMs / 2_000) }, y: { range: fromZero } },
      plugins: [annotationMarks(marks)],
      cursor: { drag: { x: false, y: false } },
      axes: [
        { ...axis, grid: { show: false } },
        {
          ...axis,
          size: 64,
          values: (_, ticks) => ticks.map((tick) => (Number.isInteger(tick) ? format(tick) : '')),
        },
      ],
      series: [
        {
          label: 'Time',
          value: (_, seconds) => (seconds === null ? '' : nameOfStart(seconds * 1000)),
        },
        {
          label: name,
          stroke: color,
          width: 2,
          fill: `${color}1f`,
          points: { show: hasOnePoint },
          value,
        },
        ...(before
          ? [
              {
                label: 'Previous period',
                stroke: style.getPropertyValue('--series-before'),
                width: 1.5,
                dash: [5, 5],
                points: { show: hasOnePoint },
                value,
              },
            ]
          : []),
      ],
    },
    [starts.map((start) => start / 1000), values, ...(before ? [before] : [])],
    place,
  )
}
