import { textOf } from './filterText.ts'
import { changeView, type View } from './view.ts'

/** The active filters, each with a button that removes it. */
export function FilterChips({ view: { filters } }: { view: View }) {
  if (filters.length === 0) return null
  return (
    <ul class="chips" aria-label="Filters">
      {filters.map((filter) => (
        <li key={filter}>
          {textOf(filter)}
          <button
            type="button"
            aria-label={`Remove the filter ${textOf(filter)}`}
            onClick={() => changeView({ filters: filters.filter((other) => other !== filter) })}
          >
            ×
          </button>
        </li>
      ))}
    </ul>
  )
}
