import { CsvButton } from '../../components/csvButton.tsx'
import { startOf } from '../../format.ts'
import { valueText } from './figureChart.tsx'
import type { FigureSeries } from './figureSeries.ts'
import { metricOf } from './metrics.ts'

/** The points of a chart as a table and as CSV. */
export function FigureTable({ series }: { series: FigureSeries }) {
  const { metric, interval, starts, values, before } = series
  const { name, format } = metricOf(metric)
  const rows = starts.map((start, index) => {
    const now = values[index] ?? null
    return [startOf(interval, start), now, ...(before ? [before.values[index] ?? null] : [])] as [
      start: string,
      ...values: (number | null)[],
    ]
  })
  const head = ['Time', name, ...(before ? ['Compared period'] : [])]
  return (
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
                  <td key={head[index + 1]}>{valueText(value, format)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <CsvButton name={`${metric} by ${interval}`} head={head} rows={() => rows} />
    </details>
  )
}
