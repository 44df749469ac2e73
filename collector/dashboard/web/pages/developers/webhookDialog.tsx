import { api, type Webhook } from '../../api.ts'
import { Dialog } from '../../components/dialog.tsx'
import { Checkbox, TextField } from '../../components/fields.tsx'
import { Form, type Values } from '../../components/form.tsx'

const typeNames = {
  'audience.built': 'An audience is built',
  'list.imported': 'A list is imported',
  'export.run_ended': 'An export has run',
  'budget.reached': 'A budget is reached',
  'pixel.silent': 'A pixel goes silent',
  'alert.raised': 'An alert is raised',
  'alert.resolved': 'An alert is normal again',
  'visit.matched': 'A visit alert matches a person (contains personal data)',
} as const satisfies Record<Webhook['event_types'][number], string>
type EventType = keyof typeof typeNames
const types = Object.keys(typeNames) as EventType[]

/** Creates or changes a webhook. */
export function WebhookDialog({
  projectId,
  webhook,
  saved,
  close,
}: {
  projectId: string
  webhook: Webhook | null
  /** Receives the created webhook; null after a change. */
  saved(made: { webhook: Webhook; secret: string } | null): Promise<void>
  close(): void
}) {
  const submit = async (values: Values) => {
    const change = {
      url: values.url ?? '',
      description: values.description || null,
      event_types: types.filter((type) => values[type] === 'on'),
      enabled: values.enabled === 'on',
    }
    if (webhook) {
      await api.updateWebhook({ webhook_id: webhook.id, ...change, version: webhook.version })
      await saved(null)
    } else await saved(await api.createWebhook({ project_id: projectId, ...change }))
  }
  return (
    <Dialog title={webhook ? 'Edit the webhook' : 'New webhook'} close={close}>
      <Form
        submit={submit}
        action={webhook ? 'Save' : 'Create webhook'}
        cancel={close}
        values={{
          url: webhook?.url ?? '',
          description: webhook?.description ?? '',
          enabled: webhook?.enabled === false ? '' : 'on',
          ...Object.fromEntries(
            types.map((type) => {
              const isOn = webhook ? webhook.event_types.includes(type) : type !== 'visit.matched'
              return [type, isOn ? 'on' : '']
            }),
          ),
        }}
      >
        <TextField
          name="url"
          label="Address"
          hint="URL that receives messages by POST: https, on the public Internet."
          maxLength={2_048}
          required
        />
        <TextField name="description" label="Purpose (optional)" maxLength={200} />
        <fieldset>
          <legend>Messages when</legend>
          {types.map((type) => (
            <Checkbox key={type} name={type} label={typeNames[type]} />
          ))}
        </fieldset>
        <Checkbox name="enabled" label="On" />
      </Form>
    </Dialog>
  )
}
