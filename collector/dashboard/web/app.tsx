import { type ComponentType, createElement, type VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import { ownProjects, readSession, type Session } from './api.ts'
import { AsyncView } from './components/asyncView.tsx'
import { NotFound } from './components/notFound.tsx'
import { ToastRegion } from './components/toast.tsx'
import { lazyPage } from './lazyPage.tsx'
import { currentPath, currentSearch, go, match } from './router.tsx'
import { placeAt } from './routes.ts'
import { session as signedIn } from './session.ts'
import { AppLayout } from './shell/appLayout.tsx'
import { useQuery } from './useQuery.ts'

const AcceptInvitation = lazyPage(() =>
  import('./pages/invitation.tsx').then(({ AcceptInvitation }) => AcceptInvitation),
)
const ForgotPassword = lazyPage(() =>
  import('./pages/password.tsx').then(({ ForgotPassword }) => ForgotPassword),
)
const ConfirmEmailChange = lazyPage(() =>
  import('./pages/emailChange.tsx').then(({ ConfirmEmailChange }) => ConfirmEmailChange),
)
const SharedPage = lazyPage(() =>
  import('./pages/sharing/sharedPage.tsx').then(({ SharedPage }) => SharedPage),
)
const SignIn = lazyPage(() => import('./pages/signIn.tsx').then(({ SignIn }) => SignIn))
const Unsubscribe = lazyPage(() =>
  import('./pages/unsubscribe.tsx').then(({ Unsubscribe }) => Unsubscribe),
)
const ResetPassword = lazyPage(() =>
  import('./pages/password.tsx').then(({ ResetPassword }) => ResetPassword),
)

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
  const emailChange = match('/email-change/:token', path)
  if (emailChange) return <ConfirmEmailChange token={emailChange.token!} />
  const unsubscribe = match('/unsubscribe/:token', path)
  if (unsubscribe) return <Unsubscribe token={unsubscribe.token!} />
  const shared = match('/share/:share', path)
  if (shared) return <SharedPage shareId={shared.share!} />
  return path === '/forgot-password' ? <ForgotPassword /> : <SignedIn path={path} />
}

async function refreshSession(): Promise<Session | null> {
  const found = await readSession()
  signedIn.value = found
  return found
}

/** Loads the session. Without one it shows the sign-in page, and then the requested page. */
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
    // Back and forward may lead to pages of other organizations.
    if (isOther) void refreshSession()
  }, [isOther])
  const organization = `/${session.organization.organization_id}`
  if (isOther) return null
  if (['/', '/sign-in', organization].includes(path)) return <Start organization={organization} />
  if (path === '/explorer')
    return <Redirect to={`${organization}/developers/explorer${currentSearch.value}`} />
  return (
    <AppLayout session={session} path={path}>
      {/* Each address has its own page component, so that loaded data never appears under another address. */}
      <div key={path}>{pageAt(session, path)}</div>
    </AppLayout>
  )
}

/** Leads to the overview of the only project, or to the list of projects. */
function Start({ organization }: { organization: string }) {
  const projects = useQuery(ownProjects)
  return (
    <AsyncView query={projects}>
      {([only, ...others]) => (
        <Redirect
          to={`${organization}/projects${only && others.length === 0 ? `/${only.project_id}/overview` : ''}`}
        />
      )}
    </AsyncView>
  )
}

function Redirect({ to }: { to: string }) {
  useEffect(() => go(to, { replace: true }), [to])
  return null
}

function pageAt(session: Session, path: string): VNode {
  const isOwn = path.toLowerCase().startsWith(`/${session.organization.organization_id}/`)
  const found = isOwn && placeAt(path)
  if (!found) return <NotFound />
  const page: ComponentType<never> = found.place.page
  return createElement(page as ComponentType<object>, found.params)
}
