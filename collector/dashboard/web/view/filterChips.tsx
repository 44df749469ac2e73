import { projectOfPath } from '../projectPath.ts'
import { currentPath } from '../router.tsx'
import { textOf } from './filterText.ts'
import { useSegments } from './segments.ts'
import { changeView, type View } from './view.ts'

/** The filters of the page, each with a button that removes it. A segment is shown by its name. */
export function FilterChips({ view: { filters } }: { view: View }) {
  const segments = useSegments(projectOfPath(currentPath.value))
  if (filters.length === 0) return null
  const nameOf = (text: string) => segments.find(({ filter }) => filter === text)?.name
  return (
    <ul class="chips" aria-label="Filters">
      {filters.map((filter) => (
        <li key={filter} title={nameOf(filter) && textOf(filter)}>
          {nameOf(filter) ?? textOf(filter)}
          <button
            type="button"
            aria-label={`Remove the filter ${nameOf(filter) ?? textOf(filter)}`}
            onClick={() => changeView({ filters: filters.filter((other) => other !== filter) })}
          >
            ×
          </button>
        </li>
      ))}
    </ul>
  )
}
