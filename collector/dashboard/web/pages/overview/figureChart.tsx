import { useEffect, useRef } from 'preact/hooks'
import type { Answer } from '../../../../api/client/index.ts'
import type { AnalyticsAnnotation } from '../../api.ts'
import { CsvButton } from '../../components/csvButton.tsx'
import { startOf, wholeNumber } from '../../format.ts'
import { type Metric, metrics } from './tiles.tsx'

type Series = Answer<'getAnalyticsTimeseries'>

const dayMs = 86_400_000
const stepMs: Record<Series['interval'], number> = {
  hour: dayMs / 24,
  day: dayMs,
  week: 7 * dayMs,
  month: 30 * dayMs,
}

/** A figure over time, the period before dashed; the same as a table, for those who cannot see it, and as CSV. */
export function FigureChart({
  series,
  metric,
  annotations,
}: {
  series: Series
  metric: Metric
  annotations: readonly AnalyticsAnnotation[] | undefined
}) {
  const { interval, timeseries, previous } = series
  const place = useRef<HTMLDivElement>(null)
  const name = metrics[metric]
  useEffect(() => {
    let remove: (() => void) | undefined
    let isGone = false
    void import('../../charts/drawCharts.ts').then(({ drawLines }) => {
      // The user may have left the page.
      if (isGone || !place.current) return
      remove = drawLines(place.current, {
        starts: timeseries.map(({ start_ms }) => start_ms),
        stepMs: stepMs[interval],
        name,
        values: timeseries.map((point) => point[metric]),
        before: previous?.map((point) => point[metric]),
        marks: annotations?.map(({ at, text }) => ({ at: Date.parse(at), text })) ?? [],
        nameOfStart: (start) => startOf(interval, start),
        format: wholeNumber,
      })
    })
    return () => {
      isGone = true
      remove?.()
    }
  }, [series, metric, annotations])
  const rows = timeseries.map((point, index) => [
    startOf(interval, point.start_ms),
    point[metric],
    ...(previous ? [previous[index]![metric]] : []),
  ])
  const head = ['Time', name, ...(previous ? ['Previous period'] : [])]
  return (
    <>
      <div
        ref={place}
        class="chart"
        role="img"
        aria-label={`${name} by ${interval}. The table below has the same data.`}
      />
      <details>
        <summary>As a table</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
        <section class="table-scroll" tabIndex={0} aria-label={`${name} by ${interval}`}>
          <table>
            <thead>
              <tr>
                {head.map((text) => (
                  <th key={text} scope="col">
                    {text}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(([start, ...values]) => (
                <tr key={start}>
                  <th scope="row">{start}</th>
                  {values.map((value, index) => (
                    <td key={head[index + 1]}>{wholeNumber(value as number)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
        <CsvButton name={`${metric} by ${interval}`} head={head} rows={() => rows} />
      </details>
    </>
  )
}
