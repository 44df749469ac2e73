import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import type { AnalyticsAnnotation } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { setUrl, urlChoice } from '../../urlState.ts'
import type { Window } from '../../view/periods.ts'
import type { View, ViewQuery } from '../../view/view.ts'
import { FigureChart } from './figureChart.tsx'
import { chosenInterval, type FigureSeries, seriesOf, useSeries } from './figureSeries.ts'
import { FigureTable } from './figureTable.tsx'
import type { Figures } from './metrics.ts'
import { ChartSkeleton } from './overviewSkeleton.tsx'
import { type RevenueChange, shownMetrics, Tiles } from './tiles.tsx'

const intervalNames = {
  minute: 'By minute',
  hour: 'By hour',
  day: 'By day',
  week: 'By week',
  month: 'By month',
}

/** The figures of a period as tiles, and the chosen one over time. */
export function Headline({
  view,
  query,
  compared,
  goal,
  now,
  before,
  revenue,
  annotations,
  children,
}: {
  view: View
  query: ViewQuery
  compared: Window | null
  /** The name of the goal that alone counts as a conversion. */
  goal: string | undefined
  now: Figures
  before: Figures | null
  revenue: RevenueChange[]
  annotations: readonly AnalyticsAnnotation[] | undefined
  /** Shown below the chart. */
  children?: ComponentChildren
}) {
  const [metric, choose] = urlChoice('metric', shownMetrics())
  const { interval, intervals } = chosenInterval(view.days)
  const asked = useSeries({ ...query, goal }, compared, view.days, interval, metric)
  const shown = useRef<{ asked: unknown; series: FigureSeries } | null>(null)
  const series = asked.value && seriesOf(asked.value, metric)
  // The chart stays until the points of another metric have arrived, and if a refresh changes nothing.
  if (series && (shown.current?.asked !== asked.value || shown.current?.series.metric !== metric)) {
    const isSame = JSON.stringify(series) === JSON.stringify(shown.current?.series)
    shown.current = { asked: asked.value, series: isSame ? shown.current!.series : series }
  }
  return (
    <section class="card headline" aria-label="Figures of the period">
      <Tiles
        now={now}
        before={before}
        revenue={revenue}
        goal={goal}
        metric={metric}
        choose={choose}
      />
      <div class="chart-tools">
        <select
          aria-label="Interval"
          value={interval}
          onChange={({ currentTarget: { value } }) => setUrl({ interval: value })}
        >
          {intervals.map((interval) => (
            <option key={interval} value={interval}>
              {intervalNames[interval]}
            </option>
          ))}
        </select>
      </div>
      <AsyncView query={{ ...asked, value: shown.current?.series }} skeleton={<ChartSkeleton />}>
        {(series) => (
          <div class={asked.isStale ? 'stale' : ''} aria-busy={asked.isStale}>
            <FigureChart series={series} annotations={annotations} />
            <FigureTable series={series} />
          </div>
        )}
      </AsyncView>
      {children}
    </section>
  )
}
