import { useEffect, useRef } from 'preact/hooks'
import type { Series } from '../../charts/bars.ts'
import { records } from '../../components/amounts.ts'
import { dateText, tickOf } from '../../format.ts'

/**
 * Stacked bars, one for each day. Their code is loaded with the first chart. The tables next to it have the
 * same data, for people who cannot see it.
 */
export function Chart({ days, series }: { days: string[]; series: Series[] }) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    let remove: (() => void) | undefined
    void import('../../charts/drawCharts.ts').then(({ drawBars }) => {
      // The user may have left the page.
      if (!place.current) return
      remove = drawBars(place.current, {
        days,
        series,
        tick: (day) => tickOf('day', Date.parse(day)),
        name: dateText,
        format: records,
      })
    })
    return () => remove?.()
  }, [])
  return (
    <div
      ref={place}
      class="chart"
      role="img"
      aria-label={`Records charged on each day from ${dateText(days[0]!)} to ${dateText(days.at(-1)!)}. The tables below have the same data.`}
    />
  )
}
