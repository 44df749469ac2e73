import { useState } from 'preact/hooks'
import { ApiError, api } from '../api.ts'
import { AuthLayout } from '../components/authLayout.tsx'
import { CodeField } from '../components/codeField.tsx'
import { TextField } from '../components/fields.tsx'
import { Form } from '../components/form.tsx'
import { Page } from '../components/page.tsx'
import { currentSearch, Link } from '../router.tsx'
import { session } from '../session.ts'
import { nameInAddress, refusalOf, SignInByProvider } from './signInByProvider.tsx'

/** Form for e-mail address and password, then for a code if two-factor authentication is on. */
export function SignIn() {
  const [given, setGiven] = useState<{ email: string; password: string } | null>(null)
  const refusal = refusalOf(currentSearch.value)
  const [byProvider, setByProvider] = useState(refusal !== null || nameInAddress() !== null)
  if (byProvider) return <SignInByProvider refusal={refusal} cancel={() => setByProvider(false)} />
  return (
    <AuthLayout>
      {given ? (
        <Page title="Enter your code" lead={given.email}>
          <Form
            submit={async ({ code = '' }) => {
              session.value = await api.signIn({ ...given, code })
            }}
            action="Sign in"
            cancel={() => setGiven(null)}
          >
            <CodeField hint="The six digits of your authenticator app, or a recovery code." />
          </Form>
        </Page>
      ) : (
        <Page title="Sign in">
          <Form
            submit={async ({ email = '', password = '' }) => {
              try {
                session.value = await api.signIn({ email, password })
              } catch (error) {
                if (!(error instanceof ApiError) || error.code !== 'second_factor_required')
                  throw error
                setGiven({ email, password })
              }
            }}
            action="Sign in"
          >
            <TextField
              name="email"
              label="E-mail"
              type="email"
              autocomplete="username"
              maxLength={254}
              required
            />
            <TextField
              name="password"
              label="Password"
              type="password"
              autocomplete="current-password"
              maxLength={200}
              required
            />
          </Form>
          <button type="button" onClick={() => setByProvider(true)}>
            Use single sign-on
          </button>
          <p class="hint">
            New here? Ask an owner or an admin of your organization for an invitation.{' '}
            <Link href="/forgot-password">Forgot your password?</Link>
          </p>
        </Page>
      )}
    </AuthLayout>
  )
}
