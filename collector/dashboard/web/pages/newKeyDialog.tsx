import type { Answer } from '../../../api/client/index.ts'
import { api, type KeyRole, type OwnProject } from '../api.ts'
import { Dialog } from '../components/dialog.tsx'
import { Choice, Select, TextField } from '../components/fields.tsx'
import { Form } from '../components/form.tsx'
import { isOrganizationAdmin, useSession } from '../session.ts'

const everyProject = 'organization'
/** A key never has more rights than its maker. */
const asMuchAsI = 'all'

const expiries = {
  never: 'Never',
  '30': 'In 30 days',
  '90': 'In 90 days',
  '365': 'In a year',
}

const modes = [
  { value: 'live', label: 'Live', hint: 'Reads the data of your pixels.' },
  {
    value: 'test',
    label: 'Test',
    hint: 'Reads sample data that never changes. Never billed.',
  },
]

const roles = [
  { value: 'read', label: 'Read', hint: 'Events, people, usage; projects and pixels.' },
  {
    value: 'write',
    label: 'Read and write',
    hint: 'Also writes campaigns and their performance.',
  },
  {
    value: asMuchAsI,
    label: 'All your permissions',
    hint: 'Also members, projects, pixels, budgets and privacy requests.',
  },
]

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()

/** Form for a new key. Scope and mode cannot be changed later. */
export function NewKeyDialog({
  projects,
  created,
  close,
}: {
  projects: OwnProject[]
  created(answer: Answer<'createApiKey'>): Promise<void>
  close(): void
}) {
  const session = useSession()
  const scopes = {
    ...(isOrganizationAdmin(session) && { [everyProject]: `All of ${session.organization.name}` }),
    ...Object.fromEntries(projects.map(({ project_id, name }) => [project_id, `Only ${name}`])),
  }
  return (
    <Dialog title="New API key" close={close}>
      <Form
        values={{ mode: 'live', role: 'read', expiry: 'never' }}
        submit={async ({ name = '', mode, project_id, role, expiry = 'never' }) =>
          created(
            await api.createApiKey({
              name,
              mode: mode as 'live' | 'test',
              ...(role !== asMuchAsI && { role: role as KeyRole }),
              ...(expiry !== 'never' && { expires_at: inDays(Number(expiry)) }),
              project_id:
                project_id === undefined || project_id === everyProject ? null : project_id,
            }),
          )
        }
        action="Create key"
        cancel={close}
      >
        <TextField
          name="name"
          label="Name"
          hint="The program that will use it, such as “Warehouse import”."
          maxLength={200}
          autocomplete="off"
          required
        />
        <Choice name="mode" label="Mode" options={modes} />
        <Choice name="role" label="Permissions" options={roles} />
        <p class="hint">
          Choose the least that the program needs. Anybody with the key and its secret has these
          permissions.
        </p>
        <Select
          name="project_id"
          label="Scope"
          hint="You cannot change it later."
          options={scopes}
        />
        <Select
          name="expiry"
          label="Expires"
          hint="The key stops working then. Set a date for trials and contractors."
          options={expiries}
        />
      </Form>
    </Dialog>
  )
}
