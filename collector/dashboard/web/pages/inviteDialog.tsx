import { useState } from 'preact/hooks'
import { api, type Member, ownProjects, type ProjectRole, type Role } from '../api.ts'
import { AsyncView } from '../components/asyncView.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Select, TextField } from '../components/fields.tsx'
import { Form, type Values } from '../components/form.tsx'
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
  // With one project there is nothing to choose; without one, a member sees nothing.
  const [only, ...others] = projects.value ?? []
  const first: Values = only && others.length === 0 ? { [fieldOf(only)]: 'member' } : {}
  const [edited, setEdited] = useState<Values | null>(null)
  const hasProject = Object.entries(edited ?? first).some(
    ([name, value]) => name.startsWith(projectField) && value !== '',
  )
  const seesNothing = role === 'member' && only !== undefined && !hasProject
  return (
    <Dialog title="Invite a member" close={close}>
      <Form
        values={first}
        edited={setEdited}
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
        action={seesNothing ? 'Invite without a project' : 'Create invitation'}
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
                  own.map((project) => (
                    <Select
                      key={project.project_id}
                      name={fieldOf(project)}
                      label={project.name}
                      layout="beside"
                      options={{ '': 'No access', member: 'Member', admin: 'Admin' }}
                    />
                  ))
                )
              }
            </AsyncView>
            <p class="hint" role="status">
              {seesNothing && 'Choose at least one project. Without one, the member sees nothing.'}
            </p>
          </fieldset>
        )}
      </Form>
    </Dialog>
  )
}

const projectField = 'project '
const fieldOf = ({ project_id }: { project_id: string }) => `${projectField}${project_id}`
