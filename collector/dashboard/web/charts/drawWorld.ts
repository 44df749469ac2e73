import { geoNaturalEarth1, geoPath } from 'd3-geo'
import { feature } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'
import atlas from 'world-atlas/countries-110m.json' with { type: 'json' }

/** Returns the ISO 3166-1 alpha-2 code of a numeric one: the canonical form of a locale has it. */
const codeOf = (numeric: string): string | undefined => new Intl.Locale(`und-${numeric}`).region

/** Countries without a numeric code in the atlas; others of these have no alpha-2 code. */
const codesByName: Record<string, string> = { Kosovo: 'XK' }

/** A country on the map. */
interface Shape {
  readonly id: string
  /** ISO 3166-1 alpha-2; null for territories without one. */
  readonly code: string | null
  /** The outline as an SVG path. */
  readonly d: string
}

const [width, height] = [800, 400]
export const viewBox = `0 0 ${width} ${height}`

const topology = atlas as unknown as Topology<{ countries: GeometryCollection<{ name: string }> }>

/** All countries of the world-atlas except Antarctica, in a projection that shows all of them. */
export const shapes: readonly Shape[] = (() => {
  const { features } = feature(topology, topology.objects.countries)
  const shown = features.filter(({ id }) => id !== '010')
  const projection = geoNaturalEarth1().fitSize([width, height], {
    type: 'FeatureCollection',
    features: shown,
  })
  const path = geoPath(projection).digits(1)
  return shown.map((country) => ({
    id: String(country.id ?? country.properties.name),
    code:
      (country.id === undefined
        ? codesByName[country.properties.name]
        : codeOf(String(country.id))) ?? null,
    d: path(country) ?? '',
  }))
})()
