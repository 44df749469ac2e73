import type { Answer, Params } from '../../../../api/client/index.ts'
import { duration, percent, wholeNumber } from '../../format.ts'

type Point = Answer<'getAnalyticsTimeseries'>['timeseries'][number]

/** The figures of a period. */
export type Figures = Answer<'getAnalyticsOverview'>['overview'] & {
  /** Visitors who reach a goal. */
  converted: number | null
}

type Axis = 'counts' | 'shares' | 'durations'

interface MetricOf {
  name: string
  /** The counted subject, if the name alone may mislead. */
  title?: string
  /** Its name in figures and points. */
  of: keyof Figures & keyof Point
  format(value: number): string
  axis: Axis
  /** The parameter that adds it to a series. */
  include?: Params<'getAnalyticsTimeseries'>['include']
  /** Whether a higher value is worse. */
  isBad?: true
}

/** The metrics of tiles and chart, in their order. */
export const metrics = {
  visitors: { name: 'Visitors', of: 'visitors', format: wholeNumber, axis: 'counts' },
  page_views: { name: 'Page views', of: 'page_views', format: wholeNumber, axis: 'counts' },
  events: { name: 'Events', of: 'events', format: wholeNumber, axis: 'counts' },
  sessions: {
    name: 'Sessions',
    of: 'sessions',
    format: wholeNumber,
    axis: 'counts',
    include: 'sessions',
  },
  bounce_rate: {
    name: 'Bounce rate',
    of: 'bounce_rate',
    format: percent,
    axis: 'shares',
    include: 'sessions',
    isBad: true,
  },
  conversions: {
    name: 'Conversions',
    title: 'Visitors who reach at least one goal',
    of: 'converted',
    format: wholeNumber,
    axis: 'counts',
    include: 'conversions',
  },
  time_on_page: {
    name: 'Time on page',
    of: 'time_on_page_ms',
    format: duration,
    axis: 'durations',
    include: 'sessions',
  },
} as const satisfies Record<string, MetricOf>
export type Metric = keyof typeof metrics

/** The properties of a metric. */
export const metricOf = (metric: Metric): MetricOf => metrics[metric]
