import { useEffect, useRef, useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { counted, countryName } from '../../format.ts'
import { addFilter, useRefreshed, type ViewQuery } from '../../view/view.ts'

type World = typeof import('../../charts/drawWorld.ts')

const levels = 5
/** More than there are countries. */
const countriesMax = 300

/**
 * Visitors by country on a map, which is loaded when it becomes visible. The table below has the same data,
 * and supports keyboards.
 */
export function CountryMap({ query }: { query: ViewQuery }) {
  const place = useRef<HTMLDivElement>(null)
  const [world, setWorld] = useState<World>()
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => {
      if (!entry!.isIntersecting) return
      observer.disconnect()
      // Without the map, the table is still there.
      import('../../charts/drawWorld.ts').then(setWorld, () => {})
    })
    observer.observe(place.current!)
    return () => observer.disconnect()
  }, [])
  return (
    <div ref={place} class="world">
      {world && <Shapes world={world} query={query} />}
    </div>
  )
}

function Shapes({ world: { shapes, viewBox }, query }: { world: World; query: ViewQuery }) {
  const read = async () => {
    const asked = { ...query, dimensions: 'country', limit: countriesMax }
    const { values } = (await api.getAnalyticsBreakdown(asked)).breakdowns.country!
    return new Map(values.map(({ value, visitors }) => [value, visitors]))
  }
  const { value } = useRefreshed(query, read)
  const most = Math.max(1, ...(value?.values() ?? []))
  return (
    <svg
      viewBox={viewBox}
      role="img"
      aria-label="Visitors by country, on a map. The table below has the same data."
    >
      {shapes.map(({ id, code, d }) => {
        const visitors = (code !== null && value?.get(code)) || 0
        // People compare areas and numbers by their square roots.
        const level =
          visitors === 0 ? 0 : Math.max(1, Math.ceil(levels * Math.sqrt(visitors / most)))
        return (
          // biome-ignore lint/a11y/noStaticElementInteractions: the table below is what keyboards and screen readers use.
          <path
            key={id}
            d={d}
            class={`level-${level}`}
            onClick={visitors > 0 ? () => addFilter(`country:eq:${code}`) : undefined}
          >
            <title>{`${code === null ? id : countryName(code)}: ${counted(visitors, 'visitor')}`}</title>
          </path>
        )
      })}
    </svg>
  )
}
