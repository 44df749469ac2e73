import { useState } from 'preact/hooks'
import { api, type Project, type ProjectMember, type ProjectRole } from '../api.ts'
import { AsyncList } from '../components/asyncView.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Select, TextField } from '../components/fields.tsx'
import { Form } from '../components/form.tsx'
import { useKeysQuestion } from '../components/keysQuestion.tsx'
import { byText } from '../components/listTools.tsx'
import { Section } from '../components/page.tsx'
import { toast } from '../components/toast.tsx'
import { useListQuery } from '../useQuery.ts'
import { byName, nameOf, PersonButtons, personText } from './people.tsx'
import { RemoveMemberDialog } from './removeMemberDialog.tsx'

type Open = { kind: 'add' } | { kind: 'role' | 'remove'; member: ProjectMember } | null

const roles: Record<ProjectRole, string> = {
  member: 'Member: sees the project',
  admin: 'Admin: changes it, its pixels, people and keys',
}

/** Members who may see or change a project, in addition to the organization's owners and admins. */
export function ProjectMembers({ project, mayEdit }: { project: Project; mayEdit: boolean }) {
  const { project_id } = project
  const members = useListQuery(
    (cursor) => api.listProjectMembers({ project_id, cursor }),
    ({ project_members }) => project_members,
  )
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  const done = async (text: string) => {
    close()
    toast(text)
    await members.reload()
  }
  const add = (
    <button type="button" onClick={() => setOpen({ kind: 'add' })}>
      Add a person
    </button>
  )
  return (
    <Section
      title="People"
      lead="Owners and admins of the organization always have access. Add other members here."
      actions={mayEdit && members.value?.length !== 0 && add}
    >
      <AsyncList<ProjectMember>
        query={members}
        of="people"
        prefix="people_"
        arrangement={{
          text: personText,
          sorts: {
            added: { label: 'Oldest first' },
            name: { label: 'By name', compare: byName },
            role: { label: 'By role', compare: byText(({ role }) => role) },
          },
        }}
        empty={
          <>
            <p>No members yet.</p>
            {mayEdit && add}
          </>
        }
      >
        {(member) => (
          <li key={member.member_id}>
            <div>
              <span class="name">{nameOf(member)}</span>
              <span class="badge">{member.role === 'admin' ? 'Admin' : 'Member'}</span>
              {member.name && <p class="meta">{member.email}</p>}
            </div>
            {mayEdit && (
              <div class="actions">
                <PersonButtons email={member.email} choose={(kind) => setOpen({ kind, member })} />
              </div>
            )}
          </li>
        )}
      </AsyncList>

      {open?.kind === 'add' && (
        <AddDialog project={project} added={() => done('Added')} close={close} />
      )}
      {open?.kind === 'role' && (
        <RoleDialog member={open.member} saved={() => done('Role changed')} close={close} />
      )}
      {open?.kind === 'remove' && (
        <RemoveMemberDialog
          title={`Remove ${nameOf(open.member)} from ${project.name}?`}
          consequence="They lose access to the project. They stay a member of the organization."
          remove={async (fate) => {
            await api.removeProjectMember({ project_id, member_id: open.member.member_id, ...fate })
            await done('Removed')
          }}
          close={close}
        />
      )}
    </Section>
  )
}

function AddDialog({
  project,
  added,
  close,
}: {
  project: Project
  added(): Promise<void>
  close(): void
}) {
  return (
    <Dialog title={`Add a person to ${project.name}`} close={close}>
      <Form
        submit={async ({ email = '', role }) => {
          await api.addProjectMember({
            project_id: project.project_id,
            email,
            role: role as ProjectRole,
          })
          await added()
        }}
        action="Add"
        cancel={close}
      >
        <TextField
          name="email"
          label="E-mail"
          hint="Of a member of the organization. Invite other people on the page Members first."
          type="email"
          maxLength={254}
          required
        />
        <Select name="role" label="Role" options={roles} />
      </Form>
    </Dialog>
  )
}

function RoleDialog({
  member,
  saved,
  close,
}: {
  member: ProjectMember
  saved(): Promise<void>
  close(): void
}) {
  const { asking, question } = useKeysQuestion()
  const { project_id, member_id } = member
  return (
    <Dialog title={`Role of ${nameOf(member)}`} close={close}>
      <Form
        values={{ role: member.role }}
        submit={async (values) => {
          const role = values.role as ProjectRole
          await asking(values, (fate) =>
            api.updateProjectMember({ project_id, member_id, role, ...fate }),
          )
          await saved()
        }}
        action="Save"
        cancel={close}
      >
        <Select name="role" label="Role" options={roles} />
        {question}
      </Form>
    </Dialog>
  )
}
