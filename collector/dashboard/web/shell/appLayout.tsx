import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { timeZoneOrUtc } from '../../../platform/timeZone.ts'
import { api, ownProjects, type Project, type Session } from '../api.ts'
import { Logo } from '../components/logo.tsx'
import { Skeleton } from '../components/skeleton.tsx'
import { readProject } from '../firstProject.ts'
import { lastProject, projectOfPath } from '../projectPath.ts'
import { go, Link } from '../router.tsx'
import { accountPlace, addressOf, type Place, placesFor } from '../routes.ts'
import { session as signedIn } from '../session.ts'
import { useQueryOf } from '../useQuery.ts'
import { zone } from '../zone.ts'
import { NavFold } from './navFold.tsx'
import { NavIcon, NavLinks } from './navLinks.tsx'
import { ProjectNav } from './projectNav.tsx'
import { GoAnywhere, Shortcuts } from './shortcuts.tsx'

/**
 * Reads a project before its pages are shown, and sets their time zone. Returns undefined while it is unknown, and null
 * without a project. A hook.
 */
function useProject(projectId: string | undefined): Project | null | undefined {
  const [[of, known], setKnown] = useState<[of?: string | undefined, project?: Project | null]>([])
  useEffect(() => {
    let isOver = false
    const show = (project: Project | null) => {
      if (isOver) return
      zone.value = timeZoneOrUtc(project?.time_zone ?? '')
      setKnown([projectId, project])
    }
    if (!projectId) show(null)
    else
      readProject(projectId).then(
        ({ project }) => show(project),
        // The page itself reports what is wrong.
        () => show(null),
      )
    return () => {
      isOver = true
    }
  }, [projectId])
  return of === projectId ? (known ?? null) : undefined
}

/** The organization of the pages; members of several can switch here. */
function Organization({ session: { organization, organizations } }: { session: Session }) {
  if (organizations.length < 2) return <p class="organization">{organization.name}</p>
  const turnTo = async (id: string) => {
    signedIn.value = await api.switchOrganization({ organization_id: id })
    go(`/${id}/projects`)
  }
  return (
    <select
      class="organization"
      aria-label="Organization"
      onChange={(event) => void turnTo(event.currentTarget.value)}
    >
      {organizations.map(({ organization_id, name }) => (
        <option
          key={organization_id}
          value={organization_id}
          selected={organization_id === organization.organization_id}
        >
          {name}
        </option>
      ))}
    </select>
  )
}

/** Links to the pages of the organization. On the pages of a project they are folded. */
function DashboardNav({
  session,
  path,
  isFolded,
}: {
  session: Session
  path: string
  isFolded: boolean
}) {
  const address = (place: Place) => addressOf(session.organization.organization_id, place)
  return (
    <nav aria-label="Dashboard">
      {isFolded ? (
        <NavFold title="Organization" hasPage={false}>
          <NavLinks places={placesFor(session)} address={address} path={path} />
        </NavFold>
      ) : (
        <ul>
          <NavLinks places={placesFor(session)} address={address} path={path} />
        </ul>
      )}
      <ul class="side-end">
        <li>
          <a href="/docs">
            <NavIcon of="API documentation" />
            API documentation
          </a>
        </li>
        <NavLinks places={[accountPlace]} address={address} path={path} />
      </ul>
    </nav>
  )
}

/** The layout of an organization's pages: location, navigation and sign-out. */
export function AppLayout({
  session,
  path,
  children,
}: {
  session: Session
  path: string
  children: ComponentChildren
}) {
  const [isOpen, setOpen] = useState(false)
  useEffect(() => setOpen(false), [path])
  const { organization, member } = session
  const { organization_id } = organization
  const projectId = projectOfPath(path)
  useEffect(() => {
    if (projectId) lastProject.value = projectId
  }, [projectId])
  const shown = useProject(projectId)
  const projects = useQueryOf(projectId ?? '', async () => (projectId ? ownProjects() : []))
  const project = projects.value?.find(({ project_id }) => project_id === projectId)
  const signOut = async () => {
    await api.signOut()
    signedIn.value = null
    go('/sign-in')
  }

  return (
    <div class="app">
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="side">
        <div class="side-top">
          <Link class="brand" href={`/${organization_id}/projects`}>
            <Logo />
            <span class={project ? 'brand-name' : ''}>Footfall</span>
            {project && <span class="brand-project">{project.name}</span>}
          </Link>
          <button
            type="button"
            class="menu"
            aria-expanded={isOpen}
            aria-controls="places"
            onClick={() => setOpen(!isOpen)}
          >
            Menu
          </button>
        </div>
        <div id="places" class={isOpen ? 'places open' : 'places'} aria-busy={shown === undefined}>
          <Organization session={session} />
          <GoAnywhere />
          {projectId && (
            <ProjectNav
              key={projectId}
              organizationId={organization_id}
              projectId={projectId}
              projects={projects.value ?? []}
              usesActivation={shown?.uses_activation ?? false}
              path={path}
            />
          )}
          <DashboardNav session={session} path={path} isFolded={projectId !== undefined} />
          <p class="who" title={member.email}>
            {member.name ?? member.email}
          </p>
          <button type="button" class="sign-out" onClick={signOut}>
            Sign out
          </button>
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        {shown === undefined ? <Skeleton /> : children}
      </main>
      <Shortcuts session={session} projectId={projectId} />
    </div>
  )
}
