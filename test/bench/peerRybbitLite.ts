import { secondsSql, type Window } from './peer.ts'

const dayMs = 86_400_000

/** SQL: the prepared months that are completely in a window, and the days before and after them. */
export function rollupSlices({ startMs, endMs }: Window): string {
  const [start, last] = [new Date(startMs), new Date(endMs)]
  const firstMonth = Date.UTC(
    start.getUTCFullYear(),
    start.getUTCMonth() + (start.getUTCDate() > 1 ? 1 : 0),
  )
  const lastMonth = Date.UTC(last.getUTCFullYear(), last.getUTCMonth())
  const end = Math.ceil(endMs / dayMs) * dayMs
  const slices: [resolution: 'day' | 'month', from: number, to: number][] =
    firstMonth < lastMonth
      ? [
          ['day', startMs, firstMonth],
          ['month', firstMonth, lastMonth],
          ['day', lastMonth, end],
        ]
      : [['day', startMs, end]]
  return slices
    .filter(([, from, to]) => from < to)
    .map(
      ([resolution, from, to]) =>
        `(resolution = '${resolution}' AND time_zone = 'UTC' AND bucket_start >= ${secondsSql(from)} AND bucket_start < ${secondsSql(to)})`,
    )
    .join(' OR ')
}
