import type { Answer } from '../../../../api/client/index.ts'
import { Change } from '../../components/figureMarks.tsx'
import { changeOf, moneyOf, roundMoney } from '../../format.ts'
import { isShared } from '../../shared.ts'
import { type Figures, type Metric, metricOf, metrics } from './metrics.ts'

const orNone = (value: number | null, format: (value: number) => string): string =>
  value === null ? '–' : format(value)

/** Returns the visible metrics: share links have no goals. */
export const shownMetrics = (): Metric[] =>
  (Object.keys(metrics) as Metric[]).filter((metric) => metric !== 'conversions' || !isShared())

/** The figures of a period, each with its change since the compared one; a click shows a figure over time. */
export function Tiles({
  now,
  before,
  revenue,
  goal,
  metric: shown,
  choose,
}: {
  now: Figures
  before: Figures | null
  revenue: RevenueChange[]
  /** The name of the goal that alone counts as a conversion. */
  goal: string | undefined
  metric: Metric
  choose(metric: Metric): void
}) {
  return (
    <ul class="tiles">
      {shownMetrics().map((metric) => {
        const { name, of, format, title: usual, isBad } = metricOf(metric)
        const title = metric === 'conversions' && goal ? `Visitors who reach ${goal}` : usual
        return (
          <li key={metric}>
            <button
              type="button"
              class="tile"
              aria-pressed={metric === shown}
              title={title}
              onClick={() => choose(metric)}
            >
              <span class="tile-name">{name}</span>
              <span class="tile-value number">{orNone(now[of], format)}</span>
              {before && (
                <TileChange
                  now={now[of]}
                  before={before[of]}
                  was={orNone(before[of], format)}
                  isBad={isBad}
                />
              )}
            </button>
          </li>
        )
      })}
      {revenue.map(({ currency, value, before }) => (
        <li key={currency}>
          <div
            class="tile"
            title={`${goal ? `Values of ${goal}` : 'Values of all goals'}: ${moneyOf(value, currency)}`}
          >
            <span class="tile-name">Revenue</span>
            <span class="tile-value number">{roundMoney(value, currency)}</span>
            {before !== null && (
              <TileChange now={value} before={before} was={moneyOf(before, currency)} />
            )}
          </div>
        </li>
      ))}
    </ul>
  )
}

/** The revenue in a currency, and that of the compared period; null without a comparison. */
export type RevenueChange = Answer<'getAnalyticsConversions'>['converted']['revenue'][number] & {
  before: number | null
}

function TileChange({
  now,
  before,
  was,
  isBad,
}: {
  now: number | null
  before: number | null
  /** `before` as text. */
  was: string
  isBad?: boolean | undefined
}) {
  // Without anything before, as on a new site, there is nothing to compare with.
  if (!before) return null
  if (changeOf(now, before) === null) return <span class="tile-change">before: {was}</span>
  return (
    <span class="tile-change number" title={`Before: ${was}`}>
      <Change now={now} before={before} isBad={isBad} />
      <span class="visually-hidden"> compared with {was}</span>
    </span>
  )
}
