import type { Answer } from '../../../../api/client/index.ts'
import { api } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Select, TextField } from '../../components/fields.tsx'
import { Form } from '../../components/form.tsx'
import { useQuery } from '../../useQuery.ts'

const everyPixel = 'project'
const ends = { 7: 'In a week', 30: 'In 30 days', 90: 'In 90 days', 365: 'In a year' }

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()

/** Creates a share link with its content and expiry. */
export function ShareDialog({
  projectId,
  created,
  close,
}: {
  projectId: string
  created(answer: Answer<'createShareLink'>): void
  close(): void
}) {
  const pixels = useQuery(() => api.listPixels({ project_id: projectId }))
  return (
    <Dialog title="New share link" close={close}>
      <AsyncView query={pixels}>
        {({ pixels }) => (
          <Form
            values={{ shows: everyPixel, ends: '30' }}
            submit={async ({ name = '', shows, ends = '30' }) =>
              created(
                await api.createShareLink({
                  project_id: projectId,
                  name,
                  expires_at: inDays(Number(ends)),
                  pixel_id: shows === everyPixel ? null : shows,
                }),
              )
            }
            action="Create link"
            cancel={close}
          >
            <TextField
              name="name"
              label="Name"
              hint="Heading of the shared page."
              maxLength={200}
              autocomplete="off"
              required
            />
            <Select
              name="shows"
              label="Shows"
              options={{
                [everyPixel]: 'All pixels of the project',
                ...Object.fromEntries(
                  pixels.map(({ pixel_id, name }) => [pixel_id, `Only ${name}`]),
                ),
              }}
            />
            <Select
              name="ends"
              label="Ends"
              hint="The link stops working then. You can revoke it earlier."
              options={ends}
            />
          </Form>
        )}
      </AsyncView>
    </Dialog>
  )
}
