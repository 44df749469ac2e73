import type { VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import { readSession, type Session } from './api.ts'
import { Account } from './pages/account.tsx'
import { ApiKeys } from './pages/apiKeys.tsx'
import { AuditLog } from './pages/auditLog.tsx'
import { AcceptInvitation } from './pages/invitation.tsx'
import { Members } from './pages/members.tsx'
import { OrganizationSettings } from './pages/organization.tsx'
import { ForgotPassword, ResetPassword } from './pages/password.tsx'
import { PixelPage } from './pages/pixel.tsx'
import { ProjectPage } from './pages/project.tsx'
import { Projects } from './pages/projects.tsx'
import { SignIn } from './pages/signIn.tsx'
import { Usage } from './pages/usage/usage.tsx'
import { AppLayout } from './parts/appLayout.tsx'
import { AsyncView } from './parts/asyncView.tsx'
import { NotFound } from './parts/notFound.tsx'
import { ToastRegion } from './parts/toast.tsx'
import { currentPath, go, match } from './router.tsx'
import { session as signedIn } from './session.ts'
import { useQuery } from './useQuery.ts'

/** The pages of an organization, below its id. */
const pages: [pattern: string, page: (params: Record<string, string>) => VNode][] = [
  ['projects', () => <Projects />],
  ['projects/:project', ({ project }) => <ProjectPage projectId={project!} />],
  ['projects/:project/pixels/:pixel', ({ pixel }) => <PixelPage pixelId={pixel!} />],
  ['members', () => <Members />],
  ['usage', () => <Usage />],
  ['settings/api-keys', () => <ApiKeys />],
  ['settings/organization', () => <OrganizationSettings />],
  ['settings/audit', () => <AuditLog />],
  ['settings/account', () => <Account />],
]

export function App() {
  return (
    <>
      <Outlet />
      <ToastRegion />
    </>
  )
}

function Outlet() {
  const path = currentPath.value
  const invitation = match('/invitation/:token', path)
  if (invitation) return <AcceptInvitation token={invitation.token!} />
  const reset = match('/reset-password/:token', path)
  if (reset) return <ResetPassword token={reset.token!} />
  return path === '/forgot-password' ? <ForgotPassword /> : <SignedIn path={path} />
}

async function refreshSession(): Promise<Session | null> {
  const found = await readSession()
  signedIn.value = found
  return found
}

/** Asks who is there; whoever is nobody is shown sign-in, and after it the page they came for. */
function SignedIn({ path }: { path: string }) {
  const asked = useQuery(refreshSession)
  const current = signedIn.value
  if (current === undefined) {
    return (
      <main class="narrow">
        <AsyncView query={asked}>{() => null}</AsyncView>
      </main>
    )
  }
  return current ? <OrganizationPages session={current} path={path} /> : <SignIn />
}

function OrganizationPages({ session, path }: { session: Session; path: string }) {
  const asked = match('/:organization', `/${path.split('/')[1]}`)?.organization?.toLowerCase()
  const isOther =
    asked !== session.organization.organization_id &&
    session.organizations.some(({ organization_id }) => organization_id === asked)
  useEffect(() => {
    // Back and forward lead to pages of other organizations too.
    if (isOther) void refreshSession()
  }, [isOther])
  const home = `/${session.organization.organization_id}/projects`
  const isHome = ['/', '/sign-in', `/${session.organization.organization_id}`].includes(path)
  useEffect(() => {
    if (isHome) go(home, { replace: true })
  }, [isHome])
  if (isHome || isOther) return null
  return (
    <AppLayout session={session} path={path}>
      {/* A page of its own for each address: what one has loaded is not shown under another. */}
      <div key={path}>{pageAt(session, path)}</div>
    </AppLayout>
  )
}

function pageAt({ organization }: Session, path: string): VNode {
  for (const [pattern, page] of pages) {
    const params = match(`/${organization.organization_id}/${pattern}`, path.toLowerCase())
    if (params) return page(params)
  }
  return <NotFound />
}
