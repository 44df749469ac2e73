import { useState } from 'preact/hooks'
import { api } from '../api.ts'
import { TextField } from '../parts/fields.tsx'
import { Form } from '../parts/form.tsx'
import { Page, Section } from '../parts/page.tsx'
import { toast } from '../parts/toast.tsx'
import { useSession } from '../session.ts'
import { passwordCharactersMin } from './invitation.tsx'
import { roleNames } from './inviteDialog.tsx'

export function Account() {
  const { member, organization } = useSession()
  const [changes, setChanges] = useState(0)
  return (
    <Page title="Your account" lead={`${roleNames[member.role]} of ${organization.name}.`}>
      <dl class="facts">
        <dt>Name</dt>
        <dd>{member.name ?? 'None given'}</dd>
        <dt>E-mail</dt>
        <dd>{member.email}</dd>
      </dl>
      <Section title="Change your password" lead="Wherever else you are signed in, you are signed out.">
        <div class="card">
          <Form
            key={changes}
            submit={async ({ current_password = '', new_password = '' }) => {
              await api.changePassword({ current_password, new_password })
              toast('Password changed')
              setChanges(changes + 1)
            }}
            action="Change password"
          >
            <input type="text" autocomplete="username" value={member.email} readOnly hidden />
            <TextField
              name="current_password"
              label="Current password"
              type="password"
              autocomplete="current-password"
              maxLength={200}
              required
            />
            <TextField
              name="new_password"
              label="New password"
              hint={`At least ${passwordCharactersMin} characters.`}
              type="password"
              autocomplete="new-password"
              minLength={passwordCharactersMin}
              maxLength={200}
              required
            />
          </Form>
        </div>
      </Section>
    </Page>
  )
}
