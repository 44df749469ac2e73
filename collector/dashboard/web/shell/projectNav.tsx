import { ownProjects } from '../api.ts'
import { currentSearch } from '../router.tsx'
import { projectAddress, projectPlaces } from '../routes.ts'
import { useQuery } from '../useQuery.ts'
import { viewSearch } from '../view/view.ts'
import { NavLinks } from './navLinks.tsx'

/** The pages of the project that the reader is in. */
export function ProjectNav({
  organizationId,
  projectId,
  path,
}: {
  organizationId: string
  projectId: string
  path: string
}) {
  const projects = useQuery(ownProjects)
  const project = projects.value?.find(({ project_id }) => project_id === projectId)
  return (
    <nav aria-label="Project">
      <p class="nav-title">{project?.name ?? 'Project'}</p>
      <ul>
        <NavLinks
          places={projectPlaces}
          address={(place) => projectAddress(organizationId, projectId, place)}
          path={path}
          search={viewSearch(currentSearch.value)}
        />
      </ul>
    </nav>
  )
}
