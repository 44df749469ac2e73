import { useState } from 'preact/hooks'
import { api } from '../api.ts'
import { AuthLayout } from '../components/authLayout.tsx'
import { Form } from '../components/form.tsx'
import { Page } from '../components/page.tsx'

/** Where the link of an e-mail summary leads; programs that only look at links change nothing here. */
export function Unsubscribe({ token }: { token: string }) {
  const [isDone, setDone] = useState(false)
  return (
    <AuthLayout>
      {isDone ? (
        <Page title="You get no more of them">
          <p>You can begin again on the project’s page “Sharing”.</p>
        </Page>
      ) : (
        <Page
          title="Get no more summaries?"
          lead="By e-mail, of the project that the mail was about."
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
