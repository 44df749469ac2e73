import { useState } from 'preact/hooks'
import {
  api,
  type Member,
  type OwnProject,
  ownProjects,
  type ProjectRole,
  type Role,
} from '../api.ts'
import { AsyncView } from '../components/asyncView.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Select, TextField } from '../components/fields.tsx'
import { Form, type Values } from '../components/form.tsx'
import { counted } from '../format.ts'
import { lastProject } from '../projectPath.ts'
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
  const first = accessAtFirst(projects.value ?? [])
  const [edited, setEdited] = useState<Values>({})
  const seen = Object.keys(first).filter((field) => (edited[field] ?? first[field]) !== '').length
  const isWithout = role === 'member' && seen === 0 && (projects.value ?? []).length > 0
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
        action="Create invitation"
        cancel={close}
        {...(isWithout && {
          buttons: (isBusy) => <ButtonsWithout isBusy={isBusy} cancel={close} />,
        })}
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
              {isWithout
                ? 'Choose at least one project. Without one, the member sees nothing.'
                : seen > 0 && `The member sees ${counted(seen, 'project')}.`}
            </p>
          </fieldset>
        )}
      </Form>
    </Dialog>
  )
}

/** Without a project, the main button does nothing: the other one invites on purpose. */
const ButtonsWithout = ({ isBusy, cancel }: { isBusy: boolean; cancel(): void }) => (
  <div class="actions">
    {/* Enter presses the first button. */}
    <button
      type="submit"
      class="primary"
      aria-disabled="true"
      onClick={(event) => event.preventDefault()}
    >
      Create invitation
    </button>
    <button type="submit" aria-disabled={isBusy}>
      {isBusy ? 'Please wait…' : 'Invite without a project'}
    </button>
    <button type="button" onClick={cancel}>
      Cancel
    </button>
  </div>
)

const projectField = 'project '
const fieldOf = ({ project_id }: { project_id: string }) => `${projectField}${project_id}`

/** The fields of the projects: access to the one that was open, otherwise to all. */
function accessAtFirst(projects: readonly OwnProject[]): Values {
  const open = projects.find(({ project_id }) => project_id === lastProject.value)
  return Object.fromEntries(
    projects.map((project) => [fieldOf(project), !open || project === open ? 'member' : '']),
  )
}
