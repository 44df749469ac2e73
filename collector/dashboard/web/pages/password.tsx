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

/** Requests a link to choose a new password. */
export function ForgotPassword() {
  const [asked, setAsked] = useState<{ email: string; by_mail: boolean } | null>(null)
  return (
    <AuthLayout>
      {asked ? (
        <Page title={asked.by_mail ? 'Check your mail' : 'Ask the operator of this service'}>
          <p>
            {asked.by_mail ? (
              <>
                If <strong>{asked.email}</strong> signs in here, we sent a link to choose a new
                password. It works for an hour.
              </>
            ) : (
              <>
                This service sends no mail. The operator can create a link for you:{' '}
                <code>npx footfall-server reset-password {asked.email}</code>
              </>
            )}
          </p>
          <p>
            <Link href="/sign-in">Back to sign-in</Link>
          </p>
        </Page>
      ) : (
        <Page title="Forgot your password?" lead="Request a link to choose a new one.">
          <Form
            submit={async ({ email = '' }) =>
              setAsked({ email, ...(await api.requestPasswordReset({ email })) })
            }
            action="Request a link"
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

/** The page of the link for a new password. */
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
                  You will sign in as <strong>{found.email}</strong>.
                </>
              }
            >
              <Form
                submit={async ({ password = '' }) => {
                  const { session: signedIn } = await api.resetPassword({ token, password })
                  session.value = signedIn
                  toast('Password changed')
                  go(signedIn ? '/' : '/sign-in', { replace: true })
                }}
                action="Set password"
              >
                <TextField
                  name="password"
                  label="New password"
                  hint={`At least ${passwordCharactersMin} characters. This signs you out on all other devices.`}
                  type="password"
                  autocomplete="new-password"
                  minLength={passwordCharactersMin}
                  maxLength={200}
                  required
                />
              </Form>
            </Page>
          ) : (
            <Page title="This link is invalid, expired or was used">
              <p>A link works once, for an hour, and only the latest one works.</p>
              <p>
                <Link href="/forgot-password">Request a new link</Link>
              </p>
            </Page>
          )
        }
      </AsyncView>
    </AuthLayout>
  )
}
