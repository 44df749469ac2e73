import { ApiError, api, readSession } from '../api.ts'
import { AsyncView } from '../components/asyncView.tsx'
import { AuthLayout } from '../components/authLayout.tsx'
import { Form } from '../components/form.tsx'
import { Page } from '../components/page.tsx'
import { toast } from '../components/toast.tsx'
import { go, Link } from '../router.tsx'
import { session } from '../session.ts'
import { useQuery } from '../useQuery.ts'

/** The page of the link that was mailed to a new address. */
export function ConfirmEmailChange({ token }: { token: string }) {
  const change = useQuery(async () => {
    try {
      const [found, signedIn] = await Promise.all([api.getEmailChange({ token }), readSession()])
      return { ...found, isSignedIn: signedIn !== null }
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return null
      throw error
    }
  })
  return (
    <AuthLayout>
      <AsyncView query={change}>
        {(found) =>
          found ? (
            <Page
              title="Confirm your e-mail address"
              lead={
                <>
                  You will sign in as <strong>{found.email}</strong>.
                </>
              }
            >
              {!found.isSignedIn && (
                <p>
                  <Link href="/sign-in">Sign in</Link> with your old address first, then open the
                  link in the mail again.
                </p>
              )}
              <Form
                submit={async () => {
                  await api.confirmEmailChange({ token })
                  // The signed-in user has another address now: load the session again.
                  session.value = undefined
                  toast('E-mail address changed')
                  go('/', { replace: true })
                }}
                action="Confirm"
              >
                {null}
              </Form>
            </Page>
          ) : (
            <Page title="This link is invalid, expired or was used">
              <p>A link works once, for an hour, and only the latest one works.</p>
              <p>
                <Link href="/">Go to your projects</Link>
              </p>
            </Page>
          )
        }
      </AsyncView>
    </AuthLayout>
  )
}
