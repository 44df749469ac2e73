import type { Answer } from '../../../../api/client/index.ts'
import { api } from '../../api.ts'
import { type Interval, intervalFor, intervalsFor, nextOf } from '../../charts/buckets.ts'
import { urlValue } from '../../urlState.ts'
import type { QueryState } from '../../useQuery.ts'
import { type Days, type Window, wholeOf } from '../../view/periods.ts'
import { useRefreshed } from '../../view/view.ts'
import { zone } from '../../zone.ts'
import type { PanelQuery } from './breakdown.ts'
import { type Metric, metricOf } from './metrics.ts'

type Point = Answer<'getAnalyticsTimeseries'>['timeseries'][number]

/** The points of a period and of the compared period. */
interface Asked {
  interval: Interval
  include: string | undefined
  /** Starts of all points of the period, future ones included. */
  starts: readonly number[]
  points: readonly Point[]
  before: readonly Point[] | null
  /** The end of the known points, epoch milliseconds. */
  endMs: number
}

/** One metric over time. */
export interface FigureSeries {
  metric: Metric
  interval: Interval
  starts: readonly number[]
  /** One value for each point of the period; null if there is none, or none yet. */
  values: readonly (number | null)[]
  /** The starts and values of the compared period's points; absent without a comparison. */
  before: { starts: readonly number[]; values: readonly (number | null)[] } | null
  /** The index of the current point. */
  unfinished: number | undefined
}

/**
 * Returns the possible intervals of these days, and the one in the address, otherwise the most suitable one.
 */
export function chosenInterval(days: Days): { interval: Interval; intervals: Interval[] } {
  const whole = wholeOf(days, zone.value)
  const intervals = intervalsFor(whole)
  const asked = urlValue('interval')
  return { intervals, interval: intervals.find((one) => one === asked) ?? intervalFor(whole) }
}

/** Reads the points of a metric; conversions are those of the goal, or of any without one. A hook. */
export function useSeries(
  { goal, ...query }: PanelQuery,
  compared: Window | null,
  days: Days,
  interval: Interval,
  metric: Metric,
): QueryState<Asked> & { isStale: boolean } {
  const { include } = metricOf(metric)
  const more = { interval, include, ...(include === 'conversions' && goal ? { goal } : {}) }
  const read = async () => {
    const ask = async (window: Partial<Window>) =>
      (await api.getAnalyticsTimeseries({ ...query, ...window, ...more })).timeseries
    const [points, before] = await Promise.all([ask({}), compared && ask(compared)])
    return {
      interval,
      include,
      points,
      before,
      starts: completed(interval, points, wholeOf(days, zone.value)),
      endMs: query.end_ms,
    }
  }
  return useRefreshed([query, compared, more], read)
}

/** The starts of known points, and of those to come until the end of the period. */
function completed(interval: Interval, points: readonly Point[], { end_ms }: Window): number[] {
  const starts = points.map(({ start_ms }) => start_ms)
  const next = () => nextOf(interval, starts.at(-1)!, zone.value)
  while (starts.length > 0 && next() < end_ms) starts.push(next())
  return starts
}

/** Selects a metric of the points; null if the points do not have it. */
export function seriesOf(
  { interval, include, starts, points, before, endMs }: Asked,
  metric: Metric,
): FigureSeries | null {
  const { of, include: needed } = metricOf(metric)
  if (needed && needed !== include) return null
  const valuesOf = (points: readonly Point[]) =>
    starts.map((_, index) => points[index]?.[of] ?? null)
  const last = points.length - 1
  const isUnderWay = last >= 0 && nextOf(interval, starts[last]!, zone.value) > endMs
  return {
    metric,
    interval,
    starts,
    values: valuesOf(points),
    before: before && {
      starts: starts.map((_, index) => before[index]?.start_ms ?? Number.NaN),
      values: valuesOf(before),
    },
    unfinished: isUnderWay ? last : undefined,
  }
}
