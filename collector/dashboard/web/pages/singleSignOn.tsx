import { useState } from 'preact/hooks'
import { api, type Member, type SingleSignOn } from '../api.ts'
import { AsyncView } from '../components/asyncView.tsx'
import { ConfirmDialog } from '../components/confirmDialog.tsx'
import { Copyable } from '../components/copyable.tsx'
import { EditForm } from '../components/editForm.tsx'
import {
  Checkbox,
  LinesField,
  linesFrom,
  linesOf,
  Select,
  TextField,
} from '../components/fields.tsx'
import { Form, type Values } from '../components/form.tsx'
import { Page, Section } from '../components/page.tsx'
import { toast } from '../components/toast.tsx'
import { useSession } from '../session.ts'
import { useQuery } from '../useQuery.ts'

/** The identity provider through which the members of the organization sign in. */
export function SingleSignOnPage() {
  const asked = useQuery(async () => {
    const [{ single_sign_on, redirect_uri }, { members }] = await Promise.all([
      api.getSingleSignOn(),
      api.listMembers({ limit: 200 }),
    ])
    return { settings: single_sign_on, redirectUri: redirect_uri, members }
  })
  return (
    <Page
      title="Single sign-on"
      lead="Members sign in through your identity provider (OpenID Connect)."
    >
      <AsyncView query={asked}>
        {({ settings, redirectUri, members }) => (
          <Settings
            settings={settings}
            redirectUri={redirectUri}
            owners={members.filter(({ role, status }) => role === 'owner' && status === 'active')}
            changed={asked.reload}
          />
        )}
      </AsyncView>
    </Page>
  )
}

function Settings({
  settings,
  redirectUri,
  owners,
  changed,
}: {
  settings: SingleSignOn | null
  redirectUri: string
  owners: Member[]
  changed(): void
}) {
  const { member } = useSession()
  const isOwner = member.role === 'owner'
  const fields = <Fields owners={owners} isNew={settings === null} />
  const saved = () => {
    toast('Saved')
    changed()
  }
  return (
    <>
      <Section
        title="At your provider"
        lead="Register a web application with the authorization code flow and this redirect URI."
      >
        <Copyable text={redirectUri} label="redirect URI" />
      </Section>
      <Section title="Settings" {...(!isOwner && { lead: 'Only owners can change them.' })}>
        <fieldset class="bare card" disabled={!isOwner}>
          <legend class="visually-hidden">Settings of single sign-on</legend>
          {settings ? (
            <EditForm
              key={settings.version}
              object={settings}
              kind="single_sign_on"
              valuesOf={valuesOf}
              save={(values, version) => api.setSingleSignOn({ ...inputOf(values), version })}
              saved={saved}
            >
              {fields}
            </EditForm>
          ) : (
            <Form
              values={{
                group_claim: 'groups',
                default_role: 'member',
                emergency_member_id: owners.some(({ member_id }) => member_id === member.member_id)
                  ? member.member_id
                  : (owners[0]?.member_id ?? ''),
              }}
              submit={async (values) => {
                await api.setSingleSignOn(inputOf(values))
                saved()
              }}
              action="Connect provider"
            >
              {fields}
            </Form>
          )}
        </fieldset>
      </Section>
      {settings && isOwner && <ProviderRemoval removed={changed} />}
    </>
  )
}

function ProviderRemoval({ removed }: { removed(): void }) {
  const [isRemoving, setRemoving] = useState(false)
  return (
    <Section
      title="Remove the provider"
      lead="Ends the sessions of members who signed in through it. Members without a password need a new invitation."
      actions={
        <button type="button" class="danger" onClick={() => setRemoving(true)}>
          Remove…
        </button>
      }
    >
      {isRemoving && (
        <ConfirmDialog
          title="Remove the identity provider?"
          action="Remove"
          confirm={async () => {
            await api.deleteSingleSignOn()
            toast('Provider removed')
            removed()
          }}
          close={() => setRemoving(false)}
        >
          <p>Members without a password can no longer sign in.</p>
        </ConfirmDialog>
      )}
    </Section>
  )
}

const roleChoices = { member: 'Member', admin: 'Admin', '': 'Refuse them' }

function Fields({ owners, isNew }: { owners: Member[]; isNew: boolean }) {
  return (
    <>
      <TextField
        name="sign_in_name"
        label="Sign-in name"
        hint="Members enter it on the sign-in page. Small letters, digits and hyphens."
        maxLength={63}
        required
      />
      <TextField name="provider_name" label="Name of the provider" maxLength={200} required />
      <TextField
        name="issuer"
        label="Issuer"
        hint="An https address, such as https://login.example.com."
        maxLength={500}
        required
      />
      <TextField name="client_id" label="Client ID" maxLength={500} required />
      <TextField
        name="client_secret"
        label="Client secret"
        type="password"
        autocomplete="off"
        hint={isNew ? undefined : 'Leave it empty to keep the stored secret.'}
        maxLength={2000}
        required={isNew}
      />
      <LinesField
        name="email_domains"
        label="E-mail domains"
        hint="One in each line. People with other addresses cannot sign in."
      />
      <TextField name="group_claim" label="Claim with the groups" maxLength={200} required />
      <LinesField
        name="group_roles"
        label="Roles of groups"
        hint="One in each line: the group, an equals sign and owner, admin or member. For example staff=member."
      />
      <Select
        name="default_role"
        label="New members in none of these groups"
        options={roleChoices}
      />
      <Select
        name="emergency_member_id"
        label="Emergency owner"
        hint="Can always sign in with a password."
        options={Object.fromEntries(
          owners.map(({ member_id, name, email }) => [
            member_id,
            name ? `${name} (${email})` : email,
          ]),
        )}
      />
      <Checkbox
        name="required"
        label="Require single sign-on"
        hint="Passwords then open this organization only to the emergency owner. API keys keep working."
      />
    </>
  )
}

const valuesOf = (settings: SingleSignOn): Values => ({
  sign_in_name: settings.sign_in_name,
  provider_name: settings.provider_name,
  issuer: settings.issuer,
  client_id: settings.client_id,
  client_secret: '',
  email_domains: linesFrom(settings.email_domains),
  group_claim: settings.group_claim,
  group_roles: linesFrom(settings.group_roles.map(({ group, role }) => `${group}=${role}`)),
  default_role: settings.default_role ?? '',
  emergency_member_id: settings.emergency_member_id,
  required: settings.required ? 'on' : '',
})

type Input = Parameters<typeof api.setSingleSignOn>[0]

const inputOf = (values: Values): Input => ({
  sign_in_name: values.sign_in_name ?? '',
  provider_name: values.provider_name ?? '',
  issuer: values.issuer ?? '',
  client_id: values.client_id ?? '',
  ...(values.client_secret && { client_secret: values.client_secret }),
  email_domains: linesOf(values.email_domains ?? '').map((domain) => domain.toLowerCase()),
  group_claim: values.group_claim ?? '',
  group_roles: linesOf(values.group_roles ?? '').map(groupRoleOf),
  default_role: (values.default_role || null) as Input['default_role'],
  emergency_member_id: values.emergency_member_id ?? '',
  required: values.required === 'on',
})

/** Parses a line such as `staff=member`; a group's name may contain equals signs. */
function groupRoleOf(line: string): Input['group_roles'][number] {
  const at = line.lastIndexOf('=')
  const [group, role] = at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)]
  return { group: group.trim(), role: role.trim() as Input['group_roles'][number]['role'] }
}
