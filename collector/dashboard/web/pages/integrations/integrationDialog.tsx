import { Fragment } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { api, type Integration } from '../../api.ts'
import { Copyable } from '../../components/copyable.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Select, TextField } from '../../components/fields.tsx'
import { Form, type Values } from '../../components/form.tsx'
import { type DestinationType, destinationFields, destinationNames } from './destinationFields.ts'

/** Creates or changes an integration; empty secrets stay unchanged. */
export function IntegrationDialog({
  projectId,
  integration,
  saved,
  close,
}: {
  projectId: string
  integration: Integration | null
  saved(): Promise<void>
  close(): void
}) {
  const [type, setType] = useState<DestinationType>(integration?.type ?? 'hubspot')
  const [typedName, setTypedName] = useState<string>()
  const fields = destinationFields[type]
  const submit = async (values: Values) => {
    const given = (isSecret: boolean) =>
      Object.fromEntries(
        fields
          .filter((field) => (field.isSecret ?? false) === isSecret && values[field.name])
          .map(({ name }) => [name, values[name]]),
      )
    const [settings, secrets] = [given(false), given(true)]
    if (integration) {
      await api.updateIntegration({
        integration_id: integration.id,
        name: values.name ?? '',
        version: integration.version,
        settings: { ...integration.settings, ...settings },
        ...(Object.keys(secrets).length > 0 && { secrets }),
      })
    } else {
      await api.createIntegration({
        project_id: projectId,
        type,
        name: values.name ?? '',
        settings,
        secrets,
      })
    }
    await saved()
  }
  return (
    <Dialog title={integration ? `Change ${integration.name}` : 'New integration'} close={close}>
      <Form
        key={type}
        submit={submit}
        action={integration ? 'Save' : 'Create integration'}
        cancel={close}
        edited={({ name = '' }) => setTypedName(name === destinationNames[type] ? undefined : name)}
        values={{
          type,
          name: typedName ?? integration?.name ?? destinationNames[type],
          ...Object.fromEntries(
            Object.entries(integration?.settings ?? {}).map(([name, value]) => [
              name,
              String(value),
            ]),
          ),
        }}
      >
        {!integration && (
          <Select
            name="type"
            label="Type"
            options={destinationNames}
            onChange={(value) => setType(value as DestinationType)}
          />
        )}
        <TextField name="name" label="Name" maxLength={200} required />
        {fields.map((field) => (
          <Fragment key={field.name}>
            <DestinationInput field={field} isStored={integration !== null} />
            {field.name === 'signing_secret' && <GenerateSecret name={field.name} />}
          </Fragment>
        ))}
      </Form>
    </Dialog>
  )
}

function DestinationInput({
  field: { name, label, isOptional, isSecret },
  isStored,
}: {
  field: (typeof destinationFields)[DestinationType][number]
  isStored: boolean
}) {
  return (
    <TextField
      name={name}
      label={isOptional ? `${label} (optional)` : label}
      type={isSecret ? 'password' : 'text'}
      autocomplete="off"
      hint={isSecret && isStored ? 'Leave empty to keep the current value.' : undefined}
      required={!isOptional && !(isSecret && isStored)}
    />
  )
}

const secretBytes = 32

/** Puts a new random secret into the field, and shows it once for the receiver. */
function GenerateSecret({ name }: { name: string }) {
  const place = useRef<HTMLDivElement>(null)
  const [secret, setSecret] = useState('')
  const generate = () => {
    const bytes = crypto.getRandomValues(new Uint8Array(secretBytes))
    const made = `whsec_${btoa(String.fromCharCode(...bytes))}`
    const field = place.current?.closest('form')?.elements.namedItem(name)
    if (field instanceof HTMLInputElement) field.value = made
    setSecret(made)
  }
  return (
    <div ref={place} class="field">
      <button type="button" onClick={generate}>
        Generate secret
      </button>
      {secret && (
        <>
          <p class="hint">Give this secret to the receiver now. It is not shown again.</p>
          <Copyable label="the secret" text={secret} />
        </>
      )}
    </div>
  )
}
