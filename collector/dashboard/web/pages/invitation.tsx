import { api } from '../api.ts'
import { ApiError } from '../http.ts'
import { useLoad } from '../load.ts'
import { Await } from '../parts/await.tsx'
import { TextField } from '../parts/fields.tsx'
import { Form } from '../parts/form.tsx'
import { Gate } from '../parts/gate.tsx'
import { Page } from '../parts/page.tsx'
import { go, Link } from '../router.tsx'
import { session } from '../session.ts'

export const passwordCharactersMin = 12

/** Where an invitation's link leads: a new member chooses a name and a password, and is signed in. */
export function AcceptInvitation({ token }: { token: string }) {
  const invitation = useLoad(async () => {
    try {
      return await api.invitation.read(token)
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return null
      throw error
    }
  })
  return (
    <Gate>
      <Await loaded={invitation}>
        {(found) =>
          found ? (
            <Page
              title={`Join ${found.organization.name}`}
              lead={
                <>
                  You sign in as <strong>{found.email}</strong>.
                </>
              }
            >
              <Form
                submit={async ({ name = '', password = '' }) => {
                  session.set(await api.invitation.accept(token, name, password))
                  go('/', { replace: true })
                }}
                action="Join"
              >
                <TextField name="name" label="Your name" autocomplete="name" maxLength={200} required />
                <TextField
                  name="password"
                  label="Choose a password"
                  hint={`At least ${passwordCharactersMin} characters.`}
                  type="password"
                  autocomplete="new-password"
                  minLength={passwordCharactersMin}
                  maxLength={200}
                  required
                />
              </Form>
            </Page>
          ) : (
            <Page title="This invitation is no longer good">
              <p>It has been used, or it is older than seven days. Ask whoever invited you for a new link.</p>
              <p>
                <Link href="/sign-in">Sign in</Link> if you have joined already.
              </p>
            </Page>
          )
        }
      </Await>
    </Gate>
  )
}
