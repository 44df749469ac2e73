import { useEffect, useRef, useState } from 'preact/hooks'
import type { AnalyticsAnnotation } from '../../api.ts'
import type { DrawnLines } from '../../charts/lines.ts'
import { Change } from '../../components/figureMarks.tsx'
import { startOf, tickOf } from '../../format.ts'
import { changeView } from '../../view/view.ts'
import { zone } from '../../zone.ts'
import type { FigureSeries } from './figureSeries.ts'
import { metricOf } from './metrics.ts'

interface Pointed {
  index: number
  leftPx: number
}

/**
 * A metric over time, with the compared period in a paler color. The pointer or the arrow keys show both
 * values of a point. A click or Enter opens its days. The table below has all values.
 */
export function FigureChart({
  series,
  annotations,
}: {
  series: FigureSeries
  annotations: readonly AnalyticsAnnotation[] | undefined
}) {
  const { metric, interval, starts, values, before, unfinished } = series
  const { name, axis, format } = metricOf(metric)
  const place = useRef<HTMLDivElement>(null)
  const drawn = useRef<DrawnLines | null>(null)
  const [pointed, setPointed] = useState<Pointed | null>(null)
  useEffect(() => {
    let isGone = false
    void import('../../charts/drawCharts.ts').then(({ drawLines }) => {
      // The reader may have left the page in the meantime.
      if (isGone || !place.current) return
      drawn.current = drawLines(place.current, {
        interval,
        starts,
        values,
        before: before?.values,
        unfinished,
        axis,
        zone: zone.value,
        tick: (start) => tickOf(interval, start),
        format,
        marks: annotations?.map(({ at, text }) => ({ at: Date.parse(at), text })) ?? [],
        point: setPointed,
        open: (days) => changeView({ period: 'custom', days }),
      })
    })
    return () => {
      isGone = true
      drawn.current?.remove()
      drawn.current = null
      setPointed(null)
    }
  }, [series, annotations])
  const last = values.findLastIndex((value) => value !== null)
  const move = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && pointed) drawn.current?.openAt(pointed.index)
    const from = pointed?.index ?? last + 1
    const to = {
      ArrowLeft: Math.max(0, from - 1),
      ArrowRight: Math.min(starts.length - 1, from + 1),
      Home: 0,
      End: starts.length - 1,
      Escape: null,
    }[event.key]
    if (to === undefined || (to === null && !pointed)) return
    event.preventDefault()
    // Escape removes all filters elsewhere.
    event.stopPropagation()
    drawn.current?.pointAt(to)
  }
  const index = pointed?.index ?? Math.max(last, 0)
  return (
    <div class="chart-frame">
      <div
        ref={place}
        class="chart"
        role="slider"
        tabIndex={0}
        aria-label={`${name} by ${interval}. The table below has the same data.`}
        aria-valuemin={0}
        aria-valuemax={Math.max(starts.length - 1, 0)}
        aria-valuenow={index}
        aria-valuetext={textOf(series, index)}
        onKeyDown={move}
        onBlur={() => drawn.current?.pointAt(null)}
      />
      {pointed && <Tooltip series={series} pointed={pointed} />}
    </div>
  )
}

/** Formats a value; "–" without one. */
export const valueText = (value: number | null | undefined, format: (value: number) => string) =>
  value === null || value === undefined ? '–' : format(value)

/** A point as text, for screen readers. */
function textOf({ metric, interval, starts, values, before }: FigureSeries, index: number): string {
  const { format } = metricOf(metric)
  const start = starts[index]
  if (start === undefined) return ''
  const text = `${startOf(interval, start)}: ${valueText(values[index], format)}`
  const compared = before?.starts[index]
  if (compared === undefined || Number.isNaN(compared)) return text
  return `${text}; ${startOf(interval, compared)}: ${valueText(before!.values[index], format)}`
}

/** Shows both dates, both values and the change of a point. */
function Tooltip({ series, pointed }: { series: FigureSeries; pointed: Pointed }) {
  const { metric, interval, starts, values, before, unfinished } = series
  const { index, leftPx } = pointed
  const { name, format, isBad } = metricOf(metric)
  const compared = before?.starts[index]
  const now = values[index] ?? null
  const was = before?.values[index] ?? null
  return (
    <div
      class={index > starts.length / 2 ? 'tooltip left' : 'tooltip'}
      aria-hidden="true"
      ref={(element) => element?.style.setProperty('left', `${leftPx}px`)}
    >
      <p class="tooltip-head">
        {name} {before && <Change now={now} before={was} isBad={isBad} />}
      </p>
      <p class="now">
        <span>
          {startOf(interval, starts[index]!)}
          {index === unfinished && ' (so far)'}
        </span>
        <span class="number">{valueText(now, format)}</span>
      </p>
      {compared !== undefined && !Number.isNaN(compared) && (
        <p class="was">
          <span>{startOf(interval, compared)}</span>
          <span class="number">{valueText(was, format)}</span>
        </p>
      )}
    </div>
  )
}
