import { projectOfPath } from '../projectPath.ts'
import { currentPath } from '../router.tsx'
import { isShared } from '../shared.ts'
import { textOf } from './filterText.ts'
import { useSegments } from './segments.ts'
import { changeView, type View } from './view.ts'

/** The filters of the page, with buttons that change and remove them. A segment is shown by its name. */
export function FilterChips({
  view: { filters },
  edit,
}: {
  view: View
  /** Opens the dialog of a filter. */
  edit(filter: string): void
}) {
  const segments = useSegments(projectOfPath(currentPath.value))
  if (filters.length === 0) return null
  return (
    <ul class="chips" aria-label="Filters">
      {filters.map((filter) => {
        const text = textOf(filter)
        const name = segments.find((segment) => segment.filter === filter)?.name ?? text
        return (
          <li key={filter} title={text}>
            {isShared() ? (
              name
            ) : (
              <button type="button" onClick={() => edit(filter)}>
                {name}
              </button>
            )}
            <button
              type="button"
              aria-label={`Remove the filter ${name}`}
              onClick={() => changeView({ filters: filters.filter((other) => other !== filter) })}
            >
              ×
            </button>
          </li>
        )
      })}
    </ul>
  )
}
