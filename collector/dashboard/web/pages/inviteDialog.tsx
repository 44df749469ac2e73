import { useState } from 'preact/hooks'
import { api, type Member, ownProjects, type ProjectRole, type Role } from '../api.ts'
import { AsyncView } from '../components/asyncView.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Select, TextField } from '../components/fields.tsx'
import { Form } from '../components/form.tsx'
import { useSession } from '../session.ts'
import { useQuery } from '../useQuery.ts'

export const roleNames: Record<Role, string> = { owner: 'Owner', admin: 'Admin', member: 'Member' }

const roles: Record<Role, string> = {
  member: 'Member: sees their own projects',
  admin: 'Admin: changes everything except owners',
  owner: 'Owner: changes everything and can delete the organization',
}

/** Returns the roles that a member with this role may assign. */
export const rolesFor = (own: Role): Record<string, string> => {
  const { owner, ...others } = roles
  return own === 'owner' ? roles : others
}

/** Invites a person, with a role and projects. */
export function InviteDialog({
  invited,
  close,
}: {
  invited(answer: {
    member: Member
    invitation_url: string | null
    by_mail: boolean
  }): Promise<void>
  close(): void
}) {
  const session = useSession()
  const [role, setRole] = useState<Role>('member')
  const projects = useQuery(ownProjects)
  return (
    <Dialog title="Invite a member" close={close}>
      <Form
        submit={async ({ email = '', ...values }) => {
          const chosen = Object.entries(values)
            .filter(([name, value]) => name.startsWith(projectField) && value !== '')
            .map(([name, value]) => ({
              project_id: name.slice(projectField.length),
              role: value as ProjectRole,
            }))
          await invited(
            await api.inviteMember({ email, role, projects: role === 'member' ? chosen : [] }),
          )
        }}
        action="Create invitation"
        cancel={close}
      >
        <TextField
          name="email"
          label="E-mail"
          type="email"
          autocomplete="off"
          maxLength={254}
          required
        />
        <Select
          name="role"
          label="Role"
          options={rolesFor(session.member.role)}
          onChange={(value) => setRole(value as Role)}
        />
        {role === 'member' && (
          <fieldset>
            <legend>Projects</legend>
            <AsyncView query={projects}>
              {(own) =>
                own.length === 0 ? (
                  <p class="hint">
                    There are no projects yet. You can add the member to one later.
                  </p>
                ) : (
                  own.map(({ project_id, name }) => (
                    <Select
                      key={project_id}
                      name={`${projectField}${project_id}`}
                      label={name}
                      layout="beside"
                      options={{ '': 'No access', member: 'Member', admin: 'Admin' }}
                    />
                  ))
                )
              }
            </AsyncView>
          </fieldset>
        )}
      </Form>
    </Dialog>
  )
}

const projectField = 'project '
