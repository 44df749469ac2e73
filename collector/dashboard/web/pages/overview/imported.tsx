import type { Answer } from '../../../../api/client/index.ts'
import { api } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { ShareBar } from '../../components/figureMarks.tsx'
import { wholeNumber } from '../../format.ts'
import { useRefreshed, type View, type ViewQuery } from '../../view/view.ts'
import { FigureChart } from './figureChart.tsx'
import { chosenInterval, type FigureSeries } from './figureSeries.ts'
import { FigureTable } from './figureTable.tsx'
import { ChartSkeleton } from './overviewSkeleton.tsx'

type Totals = NonNullable<Answer<'getAnalyticsOverview'>['imported']>

const products = { plausible: 'Plausible' }
const panels = { page_path: 'Pages', source: 'Sources' } as const
const rowsShown = 5

/** Daily figures of another product from before the first event, apart from the project's own. */
export function Imported({
  view,
  query,
  totals,
}: {
  view: View
  query: ViewQuery
  totals: Totals
}) {
  const { source, first_day, last_day, visitors, page_views, sessions } = totals
  const chosen = chosenInterval(view.days).interval
  const interval = chosen === 'minute' || chosen === 'hour' ? 'day' : chosen
  const read = async () => {
    const dimensions = Object.keys(panels).join(',')
    const [{ imported }, { breakdowns }] = await Promise.all([
      api.getAnalyticsTimeseries({ ...query, interval }),
      api.getAnalyticsBreakdown({ ...query, dimensions, limit: rowsShown }),
    ])
    const points = imported?.points ?? []
    const series: FigureSeries = {
      metric: 'visitors',
      interval,
      starts: points.map(({ start_ms }) => start_ms),
      values: points.map(({ visitors }) => visitors),
      before: null,
      unfinished: undefined,
    }
    return { series, breakdowns }
  }
  const found = useRefreshed([query, interval], read)
  return (
    <section class="card headline" aria-label="Imported figures">
      <header class="panel-header">
        <h2>Imported from {products[source]}</h2>
      </header>
      <p>
        {first_day} to {last_day}: {wholeNumber(visitors)} daily visitors, {wholeNumber(page_views)}{' '}
        page views and {wholeNumber(sessions)} sessions, as {products[source]} counted them. The
        figures above do not include them.
      </p>
      <AsyncView query={found} skeleton={<ChartSkeleton />}>
        {({ series, breakdowns }) => (
          <>
            <FigureChart series={series} annotations={undefined} />
            <FigureTable series={series} />
            {Object.entries(panels).map(([dimension, name]) => (
              <Values key={dimension} name={name} of={breakdowns[dimension]?.imported?.values} />
            ))}
          </>
        )}
      </AsyncView>
    </section>
  )
}

/** The values of a dimension with the most visitors. */
function Values({
  name,
  of,
}: {
  name: string
  of: readonly { value: string; visitors: number }[] | undefined
}) {
  if (!of) return null
  const most = Math.max(...of.map(({ visitors }) => visitors), 1)
  return (
    <table class="panel-rows imported">
      <thead>
        <tr>
          <th scope="col">{name}</th>
          <th scope="col">Visitors</th>
        </tr>
      </thead>
      <tbody>
        {of.map(({ value, visitors }) => (
          <tr key={value}>
            <th scope="row" title={value}>
              <ShareBar of={visitors / most} />
              <span class="imported-value">{value}</span>
            </th>
            <td>{wholeNumber(visitors)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
