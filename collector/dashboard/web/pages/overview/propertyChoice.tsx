import { api } from '../../api.ts'
import { useQueryOf } from '../../useQuery.ts'
import { labelOfField } from '../../view/labels.ts'
import { type Property, properties, propertiesIn } from '../../view/properties.ts'
import type { PanelQuery } from './breakdown.ts'

/** How many different sets of properties name the properties. */
const setsMax = 200

/** Chooses between the names of custom events and one of their properties. */
export function PropertyChoice({
  query,
  chosen,
  choose,
}: {
  query: PanelQuery
  /** Undefined: the names. */
  chosen: Property | undefined
  choose(property: Property | undefined): void
}) {
  const known = useQueryOf(JSON.stringify(query), () => readProperties(query))
  return (
    <div class="toolbar">
      <label>
        By{' '}
        <select
          onChange={({ currentTarget: { value } }) =>
            choose(value === '' ? undefined : (value as Property))
          }
        >
          <option value="">Event name</option>
          {known.value?.map((property) => (
            <option key={property} value={property} selected={property === chosen}>
              {labelOfField(property)}
            </option>
          ))}
        </select>
      </label>
      {known.value?.length === 0 && (
        <p class="hint">The custom events of this period have no properties.</p>
      )}
    </div>
  )
}

/** Returns the properties of the custom events that the most visitors sent, in alphabetical order. */
async function readProperties({ goal: _, ...query }: PanelQuery): Promise<Property[]> {
  const { breakdowns } = await api.getAnalyticsBreakdown({
    ...query,
    dimensions: properties,
    limit: setsMax,
  })
  return propertiesIn(breakdowns[properties]!.values.map(({ value }) => value))
}
