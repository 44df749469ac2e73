import { useState } from 'preact/hooks'
import { api, type Organization } from '../api.ts'
import { AsyncView } from '../components/asyncView.tsx'
import { DeleteDialog } from '../components/deleteDialog.tsx'
import { EditForm } from '../components/editForm.tsx'
import { Checkbox, TextField } from '../components/fields.tsx'
import { Page, Section } from '../components/page.tsx'
import { toast } from '../components/toast.tsx'
import { go } from '../router.tsx'
import { isOrganizationAdmin, session as signedIn, useSession } from '../session.ts'
import { useQuery } from '../useQuery.ts'

export function OrganizationSettings() {
  const organization = useQuery(async () => (await api.getOrganization()).organization)
  return (
    <AsyncView query={organization}>
      {(found) => <Settings organization={found} changed={organization.set} />}
    </AsyncView>
  )
}

function Settings({
  organization,
  changed,
}: {
  organization: Organization
  changed(organization: Organization): void
}) {
  const session = useSession()
  const mayEdit = isOrganizationAdmin(session)
  const [isDeleting, setDeleting] = useState(false)
  return (
    <Page
      title="Organization"
      lead={
        <>
          Organization id <code>{organization.organization_id}</code>
        </>
      }
    >
      <fieldset class="bare card" disabled={!mayEdit}>
        <legend class="visually-hidden">Settings of the organization</legend>
        <EditForm
          object={organization}
          kind="organization"
          valuesOf={({ name, secret_required }) => ({
            name,
            secret_required: secret_required ? 'on' : '',
          })}
          save={({ name = '', secret_required }, version) =>
            api.updateOrganization({ name, secret_required: secret_required === 'on', version })
          }
          saved={(now) => {
            toast('Saved')
            changed(now)
            signedIn.value = {
              ...session,
              organization: { organization_id: now.organization_id, name: now.name },
            }
          }}
        >
          <TextField name="name" label="Name" maxLength={200} required />
          <Checkbox
            name="secret_required"
            label="Require the secret of the key"
            hint="Off: requests need only the key. Turn it off only while you migrate old programs."
          />
        </EditForm>
      </fieldset>
      {session.member.role === 'owner' && (
        <Section
          title="Delete the organization"
          lead="With all its projects, pixels, members and keys."
          actions={
            <button type="button" class="danger" onClick={() => setDeleting(true)}>
              Delete…
            </button>
          }
        >
          {isDeleting && (
            <DeleteDialog
              what="organization"
              name={organization.name}
              typed
              remove={async (events, confirm) => {
                await api.deleteOrganization({ confirm, events })
                toast('Organization deleted')
                signedIn.value = null
                go('/sign-in')
              }}
              close={() => setDeleting(false)}
            />
          )}
        </Section>
      )}
    </Page>
  )
}
