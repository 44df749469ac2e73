import type { TrackingPlan } from '../../api.ts'
import { Dialog } from '../../components/dialog.tsx'
import { LinesField, TextField } from '../../components/fields.tsx'
import { Form } from '../../components/form.tsx'
import { readJson } from '../../components/readJson.ts'

/** An event of the plan, or a new one. */
export interface EditedEvent {
  name: string
  description?: string
  /** Null: a new event. */
  schema: Record<string, unknown> | null
  isPlanned?: true
}

type Events = TrackingPlan['events']

const firstSchema = {
  type: 'object',
  properties: { plan: { enum: ['free', 'pro'] } },
  required: ['plan'],
}

/** Edits the name, the description and the JSON Schema of an event. */
export function PlannedEventDialog({
  event,
  events,
  mayEdit,
  save,
  close,
}: {
  event: EditedEvent
  events: Events
  mayEdit: boolean
  save(events: Events): Promise<void>
  close(): void
}) {
  const others = Object.fromEntries(Object.entries(events).filter(([name]) => name !== event.name))
  const saveAll = async (events: Events) => {
    await save(events)
    close()
  }
  return (
    <Dialog title={event.name || 'Plan an event'} close={close} class="wide">
      <fieldset class="bare" disabled={!mayEdit}>
        <legend class="visually-hidden">Planned event</legend>
        <Form
          values={{
            name: event.name,
            description: event.description ?? '',
            schema: JSON.stringify(event.schema ?? firstSchema, null, 2),
          }}
          submit={({ name = '', description = '', schema = '' }) => {
            const planned = {
              ...(description && { description }),
              schema: readJson(schema, 'schema'),
            }
            return saveAll({ ...others, [name]: planned })
          }}
          action="Save event"
          cancel={close}
        >
          <TextField
            name="name"
            label="Name"
            hint="The name that the page gives to footfall('track', …)."
            maxLength={100}
            required
          />
          <TextField name="description" label="Description" maxLength={1000} />
          <LinesField name="schema" label="JSON Schema of the properties" rows={14} />
        </Form>
        {event.isPlanned && (
          <Form submit={() => saveAll(others)} action="Remove from the plan" tone="danger">
            {null}
          </Form>
        )}
      </fieldset>
    </Dialog>
  )
}
