import { useState } from 'preact/hooks'
import { type Account as AccountRecord, api } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { CodeField } from '../../components/codeField.tsx'
import { TextField } from '../../components/fields.tsx'
import { Form } from '../../components/form.tsx'
import { Page, Section } from '../../components/page.tsx'
import { toast } from '../../components/toast.tsx'
import { session as signedIn, useSession } from '../../session.ts'
import { useQuery } from '../../useQuery.ts'
import { passwordCharactersMin } from '../invitation.tsx'
import { roleNames } from '../inviteDialog.tsx'
import { CurrentPassword } from './currentPassword.tsx'
import { Email } from './email.tsx'
import { Sessions } from './sessions.tsx'
import { TwoFactor } from './twoFactor.tsx'

/** The name and sign-in of a user, the same in all their organizations. */
export function Account() {
  const { member, organization, by_provider } = useSession()
  if (!by_provider) return <OwnAccount />
  return (
    <Page title="Your account" lead={`${roleNames[member.role]} of ${organization.name}.`}>
      <p class="card">
        You signed in as {member.email} through the identity provider of {organization.name}. Change
        your name, address and password there.
      </p>
    </Page>
  )
}

function OwnAccount() {
  const { member, organization } = useSession()
  const account = useQuery(() => api.getAccount())
  return (
    <Page title="Your account" lead={`${roleNames[member.role]} of ${organization.name}.`}>
      <AsyncView query={account}>
        {(found) => (
          <>
            <OwnName />
            <Email account={found} />
            <Password account={found} />
            <TwoFactor account={found} changed={account.reload} />
            {/* Shown together with the content above, which would otherwise push it down. */}
            <Sessions />
          </>
        )}
      </AsyncView>
    </Page>
  )
}

function OwnName() {
  const session = useSession()
  return (
    <Section title="Name" lead="Other members of your organizations see this name.">
      <div class="card">
        <Form
          values={{ name: session.member.name ?? '' }}
          submit={async ({ name = '' }) => {
            const now = await api.updateAccount({ name })
            signedIn.value = { ...session, member: { ...session.member, name: now.name } }
            toast('Name saved')
          }}
          action="Save name"
        >
          <TextField name="name" label="Name" autocomplete="name" maxLength={200} required />
        </Form>
      </div>
    </Section>
  )
}

function Password({ account }: { account: AccountRecord }) {
  const [changes, setChanges] = useState(0)
  return (
    <Section title="Change your password" lead="This signs you out on all other devices.">
      <div class="card">
        <Form
          key={changes}
          submit={async ({ current_password = '', new_password = '', code }) => {
            await api.changePassword({ current_password, new_password, code })
            toast('Password changed')
            setChanges(changes + 1)
          }}
          action="Change password"
        >
          <CurrentPassword />
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
          {account.two_factor && (
            <CodeField hint="From your authenticator app, or a recovery code." />
          )}
        </Form>
      </div>
    </Section>
  )
}
