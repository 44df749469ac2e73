import type { Answer } from '../../../../api/client/index.ts'
import { changeOf, duration, percent, wholeNumber } from '../../format.ts'
import { isShared } from '../../shared.ts'

type Figures = Answer<'getAnalyticsOverview'>['overview'] & {
  /** Visitors who reach a goal. */
  converted: number | null
}

/** Metrics of the chart. */
export const metrics = { visitors: 'Visitors', page_views: 'Page views', events: 'Events' } as const
export type Metric = keyof typeof metrics

const notShared = 'Conversions'

const orNone = (value: number | null, format: (value: number) => string): string =>
  value === null ? '–' : format(value)

const tiles: {
  name: string
  of(figures: Figures): number | null
  format(value: number): string
  metric?: Metric
  /** More of it is worse. */
  isBad?: true
}[] = [
  {
    name: metrics.visitors,
    of: ({ visitors }) => visitors,
    format: wholeNumber,
    metric: 'visitors',
  },
  {
    name: metrics.page_views,
    of: ({ page_views }) => page_views,
    format: wholeNumber,
    metric: 'page_views',
  },
  { name: metrics.events, of: ({ events }) => events, format: wholeNumber, metric: 'events' },
  { name: 'Sessions', of: ({ sessions }) => sessions, format: wholeNumber },
  { name: 'Bounce rate', of: ({ bounce_rate }) => bounce_rate, format: percent, isBad: true },
  { name: notShared, of: ({ converted }) => converted, format: wholeNumber },
  { name: 'Time on page', of: ({ time_on_page_ms }) => time_on_page_ms, format: duration },
]

/** The figures of a period, each with what has changed since the one before; some choose what the chart shows. */
export function Tiles({
  now,
  previous,
  metric: shown,
  choose,
}: {
  now: Figures
  previous: Figures | null
  metric: Metric
  choose(metric: Metric): void
}) {
  return (
    <ul class="tiles">
      {tiles
        .filter(({ name }) => name !== notShared || !isShared())
        .map(({ name, of, format, metric, isBad }) => {
          const value = of(now)
          const before = previous && of(previous)
          const content = (
            <>
              <span class="tile-name">{name}</span>
              <span class="tile-value number">{orNone(value, format)}</span>
              {previous && (
                <Change now={value} before={before} isBad={isBad ?? false} format={format} />
              )}
            </>
          )
          return (
            <li key={name}>
              {metric ? (
                <button
                  type="button"
                  class="tile"
                  aria-pressed={metric === shown}
                  onClick={() => choose(metric)}
                >
                  {content}
                </button>
              ) : (
                <div class="tile">{content}</div>
              )}
            </li>
          )
        })}
    </ul>
  )
}

function Change({
  now,
  before,
  isBad,
  format,
}: {
  now: number | null
  before: number | null
  isBad: boolean
  format(value: number): string
}) {
  const change = changeOf(now, before)
  if (change === null) return <span class="tile-change">before: {orNone(before, format)}</span>
  const isBetter = now! >= before! !== isBad
  return (
    <span class="tile-change number" title={`Before: ${orNone(before, format)}`}>
      <span class={now === before ? '' : isBetter ? 'better' : 'worse'}>{change}</span>
      <span class="visually-hidden">
        {' '}
        compared with the previous period, {orNone(before, format)}
      </span>
    </span>
  )
}
