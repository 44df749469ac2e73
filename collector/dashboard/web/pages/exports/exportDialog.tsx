import { useState } from 'preact/hooks'
import { api, type Export, type Integration } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Select, TextField } from '../../components/fields.tsx'
import { Form } from '../../components/form.tsx'
import { useQuery } from '../../useQuery.ts'

const schedules: Record<Export['schedule'], string> = {
  manual: 'when I ask',
  hourly: 'every hour',
  daily: 'every day',
}

interface Choices {
  /** Maps "audience ID" or "list ID" to its name. */
  sources: Record<string, string>
  integrations: readonly Integration[]
}

/** Creates an export. */
export function ExportDialog({
  projectId,
  created,
  close,
}: {
  projectId: string
  created(exportId: string): void
  close(): void
}) {
  const project = { project_id: projectId }
  const loaded = useQuery(async (): Promise<Choices> => {
    const [{ audiences }, { lists }, { integrations }] = await Promise.all([
      api.listAudiences(project),
      api.listLists(project),
      api.listIntegrations(project),
    ])
    const sources = Object.fromEntries([
      ...audiences.map(({ id, name }) => [`audience ${id}`, `Audience: ${name}`]),
      ...lists.map(({ id, name }) => [`list ${id}`, `List: ${name}`]),
    ])
    return { sources, integrations }
  })
  return (
    <Dialog title="New export" close={close}>
      <AsyncView query={loaded}>
        {(choices) =>
          choices.integrations.length === 0 || Object.keys(choices.sources).length === 0 ? (
            <>
              <p>
                An export requires an audience or a list, and an integration. Create{' '}
                {choices.integrations.length === 0 ? 'an integration' : 'an audience'} first.
              </p>
              <div class="actions">
                <button type="button" onClick={close}>
                  Close
                </button>
              </div>
            </>
          ) : (
            <Fields projectId={projectId} choices={choices} created={created} close={close} />
          )
        }
      </AsyncView>
    </Dialog>
  )
}

function Fields({
  projectId,
  choices: { sources, integrations },
  created,
  close,
}: {
  projectId: string
  choices: Choices
  created(exportId: string): void
  close(): void
}) {
  const [integrationId, setIntegrationId] = useState(integrations[0]!.id)
  const formats = integrations.find(({ id }) => id === integrationId)!.output_formats
  return (
    <Form
      action="Create export"
      cancel={close}
      submit={async ({ name = '', source = '', integration_id = '', output_format, schedule }) => {
        const [kind, id = ''] = source.split(' ')
        const { export: made } = await api.createExport({
          project_id: projectId,
          name,
          integration_id,
          ...(kind === 'audience' ? { audience_id: id } : { list_id: id }),
          output_format: output_format as Export['output_format'],
          schedule: schedule as Export['schedule'],
        })
        created(made.id)
      }}
    >
      <TextField name="name" label="Name" maxLength={200} required />
      <Select name="source" label="Audience or list" options={sources} />
      <Select
        name="integration_id"
        label="Integration"
        options={Object.fromEntries(integrations.map(({ id, name }) => [id, name]))}
        onChange={setIntegrationId}
      />
      <Select
        name="output_format"
        label="Format"
        options={Object.fromEntries(formats.map((format) => [format, format]))}
      />
      <Select name="schedule" label="Schedule" options={schedules} />
    </Form>
  )
}
