import { useState } from 'preact/hooks'
import { api, type Export, type Integration } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Select, TextField } from '../../components/fields.tsx'
import { Form } from '../../components/form.tsx'
import { useProjectPath } from '../../projectPath.ts'
import { Link } from '../../router.tsx'
import { useQuery } from '../../useQuery.ts'
import { formatNames } from '../integrations/destinationFields.ts'
import { ExportPreview } from './exportPreview.tsx'

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

/** Creates an export. With an `audience` it sends that one. */
export function ExportDialog({
  projectId,
  audience,
  created,
  close,
}: {
  projectId: string
  audience?: { id: string; name: string }
  created(exportId: string): void
  close(): void
}) {
  const pathTo = useProjectPath(projectId)
  const project = { project_id: projectId }
  const loaded = useQuery(async (): Promise<Choices> => {
    const [{ audiences }, { lists }, { integrations }] = await Promise.all([
      audience ? { audiences: [audience] } : api.listAudiences(project),
      audience ? { lists: [] } : api.listLists(project),
      api.listIntegrations(project),
    ])
    const sources = Object.fromEntries([
      ...audiences.map(({ id, name }) => [`audience ${id}`, `Audience: ${name}`]),
      ...lists.map(({ id, name }) => [`list ${id}`, `List: ${name}`]),
    ])
    return { sources, integrations }
  })
  return (
    <Dialog
      title={audience ? `Send “${audience.name}” to…` : 'New export'}
      close={close}
      class="wide-dialog"
    >
      <AsyncView query={loaded}>
        {(choices) =>
          choices.integrations.length === 0 || Object.keys(choices.sources).length === 0 ? (
            <>
              <p>
                {choices.integrations.length === 0
                  ? 'An export sends to an integration, such as a CRM, a store or a webhook. Create one first.'
                  : 'An export sends an audience or a list. Create one first.'}
              </p>
              <div class="actions">
                <Link
                  class="button primary"
                  href={pathTo(
                    choices.integrations.length === 0 ? 'integrations' : 'audiences/new',
                  )}
                >
                  {choices.integrations.length === 0 ? 'Go to Integrations' : 'New audience'}
                </Link>
                <button type="button" onClick={close}>
                  Close
                </button>
              </div>
            </>
          ) : (
            <Fields
              projectId={projectId}
              audience={audience}
              choices={choices}
              created={created}
              close={close}
            />
          )
        }
      </AsyncView>
    </Dialog>
  )
}

function Fields({
  projectId,
  audience,
  choices: { sources, integrations },
  created,
  close,
}: {
  projectId: string
  audience: { id: string; name: string } | undefined
  choices: Choices
  created(exportId: string): void
  close(): void
}) {
  const [integrationId, setIntegrationId] = useState(integrations[0]!.id)
  const integration = integrations.find(({ id }) => id === integrationId)!
  const formats = integration.output_formats
  const [format, setFormat] = useState(formats[0]!)
  const [schedule, setSchedule] = useState('manual')
  const [source, setSource] = useState(
    audience ? `audience ${audience.id}` : Object.keys(sources)[0]!,
  )
  const [kind, sourceId = ''] = source.split(' ')
  const chosenFormat = formats.includes(format) ? format : formats[0]!
  const sent = {
    project_id: projectId,
    audience_id: kind === 'audience' ? sourceId : null,
    list_id: kind === 'list' ? sourceId : null,
    integration_id: integrationId,
    output_format: chosenFormat,
    mapping: null,
  }
  return (
    <Form
      action={audience ? 'Continue to the run' : 'Create export'}
      cancel={close}
      submit={async ({ name = '', schedule, daily_records_max }) => {
        const { export: made } = await api.createExport({
          project_id: projectId,
          name: audience ? `${audience.name} to ${integration.name}`.slice(0, 200) : name,
          integration_id: integrationId,
          ...(kind === 'audience' ? { audience_id: sourceId } : { list_id: sourceId }),
          output_format: chosenFormat,
          schedule: schedule as Export['schedule'],
          ...(daily_records_max && { daily_records_max: Number(daily_records_max) }),
        })
        created(made.id)
      }}
    >
      {!audience && <TextField name="name" label="Name" maxLength={200} required />}
      {!audience && (
        <Select name="source" label="Audience or list" options={sources} onChange={setSource} />
      )}
      <Select
        name="integration_id"
        label="Integration"
        options={Object.fromEntries(integrations.map(({ id, name }) => [id, name]))}
        onChange={setIntegrationId}
      />
      <Select
        name="output_format"
        label="Format"
        options={Object.fromEntries(formats.map((format) => [format, formatNames[format]]))}
        onChange={(value) => setFormat(value as Export['output_format'])}
      />
      <Select name="schedule" label="Schedule" options={schedules} onChange={setSchedule} />
      {schedule !== 'manual' && (
        <TextField
          name="daily_records_max"
          label="Most charged records a day"
          hint="Default: 1,000,000. A scheduled run that would exceed it stops, and the owners get a mail."
          type="number"
          min={1}
        />
      )}
      <ExportPreview key={JSON.stringify(sent)} sent={sent} />
    </Form>
  )
}
