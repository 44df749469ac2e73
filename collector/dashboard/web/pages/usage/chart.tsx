import { useEffect, useRef } from 'preact/hooks'
import type { Series } from '../../charts/bars.ts'
import { records } from '../../components/amounts.ts'

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
      if (place.current) remove = drawBars(place.current, days, series, records)
    })
    return () => remove?.()
  }, [])
  return (
    <div
      ref={place}
      class="chart"
      role="img"
      aria-label={`Records charged on each day from ${days[0]} to ${days.at(-1)}. The tables below have the same data.`}
    />
  )
}
