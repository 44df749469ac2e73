import { useState } from 'preact/hooks'
import { api } from '../api.ts'
import { AuthLayout } from '../components/authLayout.tsx'
import { Form } from '../components/form.tsx'
import { Page } from '../components/page.tsx'

/**
 * The page of the link in an e-mail summary; only its button unsubscribes, because some programs open links
 * automatically.
 */
export function Unsubscribe({ token }: { token: string }) {
  const [isDone, setDone] = useState(false)
  return (
    <AuthLayout>
      {isDone ? (
        <Page title="You are unsubscribed">
          <p>You can subscribe again on the page “Sharing” of the project.</p>
        </Page>
      ) : (
        <Page
          title="Unsubscribe from summaries?"
          lead="E-mail summaries of the project in the mail."
        >
          <Form
            submit={async () => {
              await api.unsubscribe({ token })
              setDone(true)
            }}
            action="Unsubscribe"
          >
            {null}
          </Form>
        </Page>
      )}
    </AuthLayout>
  )
}
