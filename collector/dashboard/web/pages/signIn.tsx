import { api } from '../api.ts'
import { AuthLayout } from '../parts/authLayout.tsx'
import { TextField } from '../parts/fields.tsx'
import { Form } from '../parts/form.tsx'
import { Page } from '../parts/page.tsx'
import { Link } from '../router.tsx'
import { session } from '../session.ts'

export function SignIn() {
  return (
    <AuthLayout>
      <Page title="Sign in">
        <Form
          submit={async ({ email = '', password = '' }) => {
            session.value = await api.signIn({ email, password })
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
        <p class="hint">
          New here? Ask an owner or an admin of your organization to invite you.{' '}
          <Link href="/forgot-password">Forgotten your password?</Link>
        </p>
      </Page>
    </AuthLayout>
  )
}
