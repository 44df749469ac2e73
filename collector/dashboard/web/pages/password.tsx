import { useState } from 'preact/hooks'
import { ApiError, api } from '../api.ts'
import { AsyncView } from '../components/asyncView.tsx'
import { AuthLayout } from '../components/authLayout.tsx'
import { TextField } from '../components/fields.tsx'
import { Form } from '../components/form.tsx'
import { Page } from '../components/page.tsx'
import { toast } from '../components/toast.tsx'
import { go, Link } from '../router.tsx'
import { session } from '../session.ts'
import { useQuery } from '../useQuery.ts'
import { passwordCharactersMin } from './invitation.tsx'

/** Asks for a link to choose a new password. */
export function ForgotPassword() {
  const [asked, setAsked] = useState<{ email: string; by_mail: boolean } | null>(null)
  return (
    <AuthLayout>
      {asked ? (
        <Page title={asked.by_mail ? 'Look into your mail' : 'Ask whoever runs this service'}>
          <p>
            {asked.by_mail ? (
              <>
                If <strong>{asked.email}</strong> signs in here, a link to choose a new password is
                on its way. It is good for an hour.
              </>
            ) : (
              <>
                This service sends no mail. Whoever runs it makes a link for you:{' '}
                <code>npx footfall reset-password {asked.email}</code>
              </>
            )}
          </p>
          <p>
            <Link href="/sign-in">Back to sign-in</Link>
          </p>
        </Page>
      ) : (
        <Page title="Forgotten your password?" lead="With a link you choose a new one.">
          <Form
            submit={async ({ email = '' }) =>
              setAsked({ email, ...(await api.requestPasswordReset({ email })) })
            }
            action="Ask for a link"
          >
            <TextField
              name="email"
              label="E-mail"
              type="email"
              autocomplete="username"
              maxLength={254}
              required
            />
          </Form>
          <p class="hint">
            <Link href="/sign-in">Back to sign-in</Link>
          </p>
        </Page>
      )}
    </AuthLayout>
  )
}

/** Where the link leads. */
export function ResetPassword({ token }: { token: string }) {
  const reset = useQuery(async () => {
    try {
      return await api.getPasswordReset({ token })
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return null
      throw error
    }
  })
  return (
    <AuthLayout>
      <AsyncView query={reset}>
        {(found) =>
          found ? (
            <Page
              title="Choose a new password"
              lead={
                <>
                  You sign in as <strong>{found.email}</strong>.
                </>
              }
            >
              <Form
                submit={async ({ password = '' }) => {
                  await api.resetPassword({ token, password })
                  session.value = null
                  toast('Password changed')
                  go('/sign-in', { replace: true })
                }}
                action="Set password"
              >
                <TextField
                  name="password"
                  label="New password"
                  hint={`At least ${passwordCharactersMin} characters. You are signed out everywhere else.`}
                  type="password"
                  autocomplete="new-password"
                  minLength={passwordCharactersMin}
                  maxLength={200}
                  required
                />
              </Form>
            </Page>
          ) : (
            <Page title="This link is no longer good">
              <p>It has been used, it is too old, or a newer one was made.</p>
              <p>
                <Link href="/forgot-password">Ask for a new link</Link>
              </p>
            </Page>
          )
        }
      </AsyncView>
    </AuthLayout>
  )
}
