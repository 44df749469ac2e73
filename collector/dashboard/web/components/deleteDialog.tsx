import type { EventsFate } from '../api.ts'
import { Dialog } from './dialog.tsx'
import { Choice, TextField } from './fields.tsx'
import { Form } from './form.tsx'

/** Asks for confirmation of a deletion, and whether to delete the object's events too. */
export function DeleteDialog({
  what,
  name,
  typed = false,
  remove,
  close,
}: {
  what: 'pixel' | 'project' | 'organization'
  name: string
  /** Whether the user must type the name. */
  typed?: boolean
  remove(events: EventsFate, confirm: string): Promise<void>
  close(): void
}) {
  return (
    <Dialog title={`Delete ${what} “${name}”?`} close={close}>
      <p>{consequences[what]} This cannot be undone.</p>
      <Form
        submit={({ events, confirm = '' }) => remove(events as EventsFate, confirm)}
        action={`Delete ${what}`}
        tone="danger"
        cancel={close}
      >
        <Choice
          name="events"
          label="What happens to its events?"
          options={[
            {
              value: 'keep',
              label: 'Keep them',
              hint:
                what === 'pixel'
                  ? 'They stay readable with the other events of the project.'
                  : 'They stay stored.',
            },
            {
              value: 'delete',
              label: 'Delete them',
              hint: 'They are deleted permanently within minutes.',
            },
          ]}
        />
        {typed && (
          <TextField
            name="confirm"
            label={`Type its name to confirm: ${name}`}
            required
            autocomplete="off"
          />
        )}
      </Form>
    </Dialog>
  )
}

const consequences = {
  pixel: 'It stops collecting at once on all sites with its snippet.',
  project: 'Its pixels stop collecting at once, and its API keys stop working.',
  organization:
    'All its projects, pixels, members and API keys are deleted, and you are signed out.',
}
