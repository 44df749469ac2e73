import { currentSearch, go } from '../router.tsx'
import {
  type Place,
  type ProjectGroup,
  projectAddress,
  projectGroups,
  projectPlaces,
} from '../routes.ts'
import { viewSearch } from '../view/view.ts'
import { NavFold } from './navFold.tsx'
import { NavLinks } from './navLinks.tsx'

/** A project that the user can open. */
export interface NamedProject {
  project_id: string
  name: string
}

/** The pages of the current project, and links to other projects. */
export function ProjectNav({
  organizationId,
  projectId,
  projects,
  usesActivation,
  path,
}: {
  organizationId: string
  projectId: string
  projects: readonly NamedProject[]
  /** Whether the project has objects of the group Activate. Without them it is folded, until one of its pages is opened. */
  usesActivation: boolean
  path: string
}) {
  const address = (place: Place) => projectAddress(organizationId, projectId, place)
  const search = viewSearch(currentSearch.value)
  const linksOf = (group: ProjectGroup) => (
    <NavLinks
      places={projectPlaces.filter((place) => place.group === group)}
      others={projectPlaces}
      address={address}
      path={path}
      search={search}
    />
  )
  return (
    <nav aria-label="Project">
      <ProjectSwitcher organizationId={organizationId} projectId={projectId} projects={projects} />
      {projectGroups.map((group) =>
        group === 'Project settings' || (group === 'Activate' && !usesActivation) ? (
          <NavFold key={group} title={group}>
            {linksOf(group)}
          </NavFold>
        ) : (
          <section key={group} aria-label={group}>
            <p class="nav-group">{group}</p>
            <ul>{linksOf(group)}</ul>
          </section>
        ),
      )}
    </nav>
  )
}

/** The project's name; with several projects, a choice that leads to the overview of another. */
function ProjectSwitcher({
  organizationId,
  projectId,
  projects,
}: {
  organizationId: string
  projectId: string
  projects: readonly NamedProject[]
}) {
  const project = projects.find(({ project_id }) => project_id === projectId)
  if (!project || projects.length < 2) return <p class="nav-title">{project?.name ?? 'Project'}</p>
  return (
    <select
      class="nav-title"
      aria-label="Project"
      title={project.name}
      onChange={({ currentTarget: { value } }) =>
        go(projectAddress(organizationId, value, projectPlaces[0]!))
      }
    >
      {projects.map(({ project_id, name }) => (
        <option key={project_id} value={project_id} selected={project_id === projectId}>
          {name}
        </option>
      ))}
    </select>
  )
}
