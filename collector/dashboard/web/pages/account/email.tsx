import { useState } from 'preact/hooks'
import { type Account, api } from '../../api.ts'
import { CodeField } from '../../components/codeField.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/fields.tsx'
import { Form } from '../../components/form.tsx'
import { Section } from '../../components/page.tsx'
import { CurrentPassword } from './currentPassword.tsx'

/** The address for sign-in; a new one becomes valid after the user follows its link. */
export function Email({ account }: { account: Account }) {
  const [isOpen, setOpen] = useState(false)
  const [mailed, setMailed] = useState<string | null>(null)
  const close = () => setOpen(false)
  return (
    <Section
      title="E-mail"
      lead={account.email}
      actions={
        account.by_mail && (
          <button type="button" onClick={() => setOpen(true)}>
            Change e-mail
          </button>
        )
      }
    >
      {!account.by_mail && (
        <p class="hint">This service sends no mail. Ask its operator to change your address.</p>
      )}
      {mailed && (
        <p class="notice" role="status">
          We sent a link to {mailed}. Open it within an hour to confirm the change.
        </p>
      )}
      {isOpen && (
        <Dialog title="Change your e-mail address" close={close}>
          <Form
            submit={async ({ email = '', current_password = '', code }) => {
              await api.requestEmailChange({
                email,
                current_password,
                ...(code !== undefined && { code }),
              })
              setMailed(email)
              close()
            }}
            action="Send link"
            cancel={close}
          >
            <TextField
              name="email"
              label="New e-mail address"
              hint="We send a link to this address to verify it."
              type="email"
              autocomplete="email"
              maxLength={254}
              required
            />
            <CurrentPassword />
            {account.two_factor && (
              <CodeField hint="From your authenticator app, or a recovery code." />
            )}
          </Form>
        </Dialog>
      )}
    </Section>
  )
}
