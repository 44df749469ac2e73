import { useState } from 'preact/hooks'
import { ApiError, api, readSession } from '../api.ts'
import { AsyncView } from '../components/asyncView.tsx'
import { AuthLayout } from '../components/authLayout.tsx'
import { CodeField } from '../components/codeField.tsx'
import { TextField } from '../components/fields.tsx'
import { Form } from '../components/form.tsx'
import { Page } from '../components/page.tsx'
import { go, Link } from '../router.tsx'
import { session } from '../session.ts'
import { useQuery } from '../useQuery.ts'

export const passwordCharactersMin = 12

/** The page of an invitation's link: a new member chooses a name and a password, and is signed in. */
export function AcceptInvitation({ token }: { token: string }) {
  const [isWithCode, setWithCode] = useState(false)
  const invitation = useQuery(async () => {
    try {
      const [found, signedIn] = await Promise.all([api.getInvitation({ token }), readSession()])
      return { ...found, isSignedIn: signedIn?.member.email === found.email }
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return null
      throw error
    }
  })
  return (
    <AuthLayout>
      <AsyncView query={invitation}>
        {(found) =>
          found ? (
            <Page
              title={`Join ${found.organization.name}`}
              lead={
                <>
                  You will sign in as <strong>{found.email}</strong>.
                </>
              }
            >
              <Form
                submit={async (person) => {
                  try {
                    session.value = await api.acceptInvitation({ token, ...person })
                  } catch (error) {
                    if (error instanceof ApiError && error.code === 'second_factor_required')
                      setWithCode(true)
                    throw error
                  }
                  go('/', { replace: true })
                }}
                action="Join"
              >
                {!found.isSignedIn && (
                  <>
                    <TextField
                      name="name"
                      label="Your name"
                      autocomplete="name"
                      maxLength={200}
                      required
                    />
                    <TextField
                      name="password"
                      label="Password"
                      hint={`At least ${passwordCharactersMin} characters. If this address already has an account here, enter its password.`}
                      type="password"
                      autocomplete="new-password"
                      minLength={passwordCharactersMin}
                      maxLength={200}
                      required
                    />
                  </>
                )}
                {isWithCode && (
                  <CodeField hint="From your authenticator app, or a recovery code." />
                )}
              </Form>
            </Page>
          ) : (
            <Page title="This invitation is invalid, expired or was used">
              <p>An invitation works once, for seven days. Ask the sender for a new link.</p>
              <p>
                <Link href="/sign-in">Sign in</Link> if you have already joined.
              </p>
            </Page>
          )
        }
      </AsyncView>
    </AuthLayout>
  )
}
