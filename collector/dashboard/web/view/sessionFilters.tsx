import { useProjectPath } from '../projectPath.ts'
import { currentSearch, Link } from '../router.tsx'
import { textOf } from './filterText.ts'
import { changeView, isAboutSessions, type View, viewSearch } from './view.ts'

/** Explains why a list of records cannot apply filters on sessions, and what to do. */
export function SessionFilters({ projectId, view }: { projectId: string; view: View }) {
  const pathTo = useProjectPath(projectId)
  const ofSessions = view.filters.filter(isAboutSessions)
  return (
    <div class="empty">
      <h2>This list cannot show “{ofSessions.map(textOf).join(' and ')}”</h2>
      <p>Source, channel, entry page and exit page are properties of sessions, not of events.</p>
      <button
        type="button"
        onClick={() => changeView({ filters: view.filters.filter((one) => !isAboutSessions(one)) })}
      >
        Remove this filter
      </button>
      <Link class="button" href={pathTo('people') + viewSearch(currentSearch.value)}>
        Show its visitors
      </Link>
    </div>
  )
}
