import { api, type Webhook } from '../../api.ts'
import { Dialog } from '../../components/dialog.tsx'
import { Checkbox, TextField } from '../../components/fields.tsx'
import { Form, type Values } from '../../components/form.tsx'
import { type MessageType, messageNames } from './messageNames.ts'

const types = Object.keys(messageNames) as MessageType[]

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
            <Checkbox key={type} name={type} label={messageNames[type]} />
          ))}
        </fieldset>
        <Checkbox name="enabled" label="On" />
      </Form>
    </Dialog>
  )
}
