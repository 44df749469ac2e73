import { useState } from 'preact/hooks'
import { ApiError, api, type Integration, messageOf } from '../../api.ts'
import { ConfirmDialog } from '../../components/confirmDialog.tsx'
import { ListPage } from '../../components/listPage.tsx'
import { exactTime } from '../../components/time.ts'
import { toast } from '../../components/toast.tsx'
import { useListQuery } from '../../useQuery.ts'
import { destinationNames, formatNames } from './destinationFields.ts'
import { IntegrationDialog } from './integrationDialog.tsx'

type Open = { kind: 'create' } | { kind: 'edit' | 'delete'; integration: Integration } | null
type Checked = { works: boolean; message: string } | 'checking'

/** The destinations of a project's audiences and lists, with their status. */
export function Integrations({ projectId }: { projectId: string }) {
  const integrations = useListQuery(
    (cursor) => api.listIntegrations({ project_id: projectId, cursor }),
    ({ integrations }) => integrations,
  )
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  const done = async (text: string) => {
    close()
    toast(text)
    await integrations.reload()
  }
  const { checks, check } = useChecks()
  const create = (
    <button type="button" class="primary" onClick={() => setOpen({ kind: 'create' })}>
      New integration
    </button>
  )
  return (
    <ListPage
      title="Integrations"
      lead="CRMs, ad platforms, stores and webhooks that receive exports. Secrets are encrypted and never shown again."
      create={create}
      query={integrations}
      empty={
        <>
          <h2>Connect the first destination</h2>
          <p>
            Enter a name and credentials, and check the connection. Then create an export to it.
          </p>
        </>
      }
      columns={[
        ...recordColumns,
        {
          name: 'check',
          label: 'Check',
          value: ({ id }: Integration) => textOf(checks[id]),
          show: (integration: Integration) => (
            <CheckCell
              name={integration.name}
              checked={checks[integration.id]}
              check={() => check(integration)}
            />
          ),
        },
        {
          name: 'actions',
          label: 'Actions',
          value: () => null,
          show: (integration: Integration) => (
            <DeleteButton
              name={integration.name}
              choose={() => setOpen({ kind: 'delete', integration })}
            />
          ),
        },
      ]}
      keyOf={({ id }) => id}
      open={(integration) => setOpen({ kind: 'edit', integration })}
    >
      {(open?.kind === 'create' || open?.kind === 'edit') && (
        <IntegrationDialog
          projectId={projectId}
          integration={open.kind === 'edit' ? open.integration : null}
          saved={() => done('Saved')}
          close={close}
        />
      )}
      {open?.kind === 'delete' && (
        <DeleteIntegrationDialog
          integration={open.integration}
          deleted={() => done('Integration deleted')}
          close={close}
        />
      )}
    </ListPage>
  )
}

/** The results of checks of connections, by integration. A hook. */
function useChecks() {
  const [checks, setChecks] = useState<Record<string, Checked>>({})
  const check = async ({ id }: Integration) => {
    const note = (checked: Checked) => setChecks((all) => ({ ...all, [id]: checked }))
    note('checking')
    try {
      note((await api.checkIntegration({ integration_id: id })).check)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      note({ works: false, message: messageOf(error) })
    }
  }
  return { checks, check }
}

const recordColumns = [
  { name: 'name', label: 'Name', value: ({ name }: Integration) => name },
  { name: 'type', label: 'Type', value: ({ type }: Integration) => destinationNames[type] },
  {
    name: 'formats',
    label: 'Formats',
    value: ({ output_formats }: Integration) =>
      output_formats.map((format) => formatNames[format]).join(', '),
    show: ({ output_formats }: Integration) => (
      <span class="wraps">{output_formats.map((format) => formatNames[format]).join(', ')}</span>
    ),
  },
  {
    name: 'updated',
    label: 'Changed',
    value: ({ updated_at }: Integration) => updated_at,
    show: ({ updated_at }: Integration) => exactTime(updated_at),
  },
]

const textOf = (checked: Checked | undefined): string | null =>
  checked === undefined || checked === 'checking' ? null : checked.message

function CheckCell({
  name,
  checked,
  check,
}: {
  name: string
  checked: Checked | undefined
  check(): void
}) {
  return (
    <div role="status">
      {checked === undefined ? (
        <button type="button" aria-label={`Check ${name}`} onClick={check}>
          Check
        </button>
      ) : checked === 'checking' ? (
        'Please wait…'
      ) : (
        <>
          <span class={`badge ${checked.works ? '' : 'bad'}`}>
            {checked.works ? 'works' : 'fails'}
          </span>{' '}
          {checked.message}
        </>
      )}
    </div>
  )
}

function DeleteIntegrationDialog({
  integration,
  deleted,
  close,
}: {
  integration: Integration
  deleted(): Promise<void>
  close(): void
}) {
  return (
    <ConfirmDialog
      title={`Delete “${integration.name}”?`}
      action="Delete integration"
      confirm={async () => {
        await api.deleteIntegration({ integration_id: integration.id })
        await deleted()
      }}
      close={close}
    >
      <p>
        Its encrypted secrets are deleted. You cannot delete an integration that an export uses.
      </p>
    </ConfirmDialog>
  )
}

function DeleteButton({ name, choose }: { name: string; choose(): void }) {
  return (
    <button type="button" aria-label={`Delete ${name}`} onClick={choose}>
      Delete
    </button>
  )
}
