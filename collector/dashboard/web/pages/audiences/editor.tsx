import { useState } from 'preact/hooks'
import { ApiError, api, messageOf } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { Page } from '../../components/page.tsx'
import { toast } from '../../components/toast.tsx'
import { useProjectPath } from '../../projectPath.ts'
import { go } from '../../router.tsx'
import { urlValue } from '../../urlState.ts'
import { useQuery } from '../../useQuery.ts'
import type { Audience } from './audiences.tsx'
import { Conditions, JsonDefinition } from './conditions.tsx'
import {
  type Definition,
  type Draft,
  definitionOf,
  draftOf,
  emptyLeaf,
  type Leaf,
} from './draft.ts'
import { Estimate } from './estimate.tsx'
import type { Choices } from './leafEditor.tsx'

/** Creates an audience, or changes the definition of one. */
export function AudienceEditor({
  projectId,
  audienceId,
}: {
  projectId: string
  audienceId?: string
}) {
  const project = { project_id: projectId }
  const loaded = useQuery(async () => {
    const [catalog, profile, { lists }, { audiences }, { templates }, audience] = await Promise.all(
      [
        api.getEventsSchema({ project_id: projectId }),
        api.listFields({ tier: 'resolution_full_profile' }),
        api.listLists(project),
        api.listAudiences(project),
        api.listAudienceTemplates(),
        audienceId
          ? api
              .getAudience({ ...project, audience_id: audienceId })
              .then(({ audience }) => audience)
          : null,
      ],
    )
    const ofProfiles = ['pte', 'contact', 'company', 'demographic']
    const choices: Choices = {
      projectId,
      eventTypes: [...new Set(catalog.event_types.map(({ event_type }) => event_type))],
      profileFields: profile.fields.filter(({ group }) => ofProfiles.includes(group)),
      lists,
      audiences: audiences.filter(({ id }) => id !== audienceId),
    }
    return { choices, templates, audience }
  })
  return (
    <AsyncView query={loaded} lines={8}>
      {({ choices, templates, audience }) => (
        <Editor projectId={projectId} choices={choices} templates={templates} audience={audience} />
      )}
    </AsyncView>
  )
}

type Template = Awaited<ReturnType<typeof api.listAudienceTemplates>>['templates'][number]

/** A new audience: of the filter that the address names, if it names one. */
function newDraft(): Draft {
  const filter = urlValue('event_filter')
  const within_days = Number(urlValue('within_days'))
  const leaf: Leaf =
    filter && within_days
      ? { kind: 'event', event_type: '', filter, at_least: 1, within_days }
      : emptyLeaf.event
  return { entity: 'people', match: 'all', include: [leaf], exclude: [] }
}

function Editor({
  projectId,
  choices,
  templates,
  audience,
}: {
  projectId: string
  choices: Choices
  templates: readonly Template[]
  audience: Audience | null
}) {
  const pathTo = useProjectPath(projectId)
  const [name, setName] = useState(audience?.name ?? '')
  const [refresh, setRefresh] = useState(audience?.refresh ?? 'manual')
  const [definition, setDefinition] = useState<Definition>(
    (audience?.definition as Definition | undefined) ?? definitionOf(newDraft()),
  )
  const [templatesChosen, setTemplatesChosen] = useState(0)
  const [fault, setFault] = useState('')
  const draft = draftOf(definition)
  const change = (part: Partial<Draft>) =>
    draft && setDefinition(definitionOf({ ...draft, ...part }))

  const save = async (event: Event) => {
    event.preventDefault()
    if (name.trim() === '') return setFault('Enter a name for the audience.')
    try {
      const values = { name: name.trim(), definition, refresh }
      const saved = await saveAudience(projectId, audience, values)
      toast(audience ? 'Saved. A new build starts.' : 'Created. The first build starts.')
      go(pathTo(`audiences/${saved.id}`))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setFault(messageOf(error))
    }
  }

  return (
    <Page title={audience ? `Change ${audience.name}` : 'New audience'}>
      <div class="wide builder">
        <form onSubmit={save} noValidate>
          <NameField name={name} change={setName} />
          <div class="toolbar">
            {!audience && (
              <TemplateChoice
                templates={templates}
                choose={(template) => {
                  setTemplatesChosen((count) => count + 1)
                  setName(template.name)
                  setDefinition(template.definition as Definition)
                }}
              />
            )}
            <EntityChoice
              entity={definition.entity}
              change={(entity) => setDefinition({ ...definition, entity })}
            />
            <RefreshChoice refresh={refresh} change={setRefresh} />
          </div>
          {draft ? (
            // A template replaces what the fields of conditions keep.
            <Conditions key={templatesChosen} draft={draft} choices={choices} change={change} />
          ) : (
            <JsonDefinition definition={definition} change={setDefinition} />
          )}
          {fault && (
            <p class="fault" role="alert">
              {fault}
            </p>
          )}
          <SaveButtons
            isNew={!audience}
            cancel={() => go(pathTo(audience ? `audiences/${audience.id}` : 'audiences'))}
          />
        </form>
        <Estimate projectId={projectId} definition={definition} />
      </div>
    </Page>
  )
}

function TemplateChoice({
  templates,
  choose,
}: {
  templates: readonly Template[]
  choose(template: Template): void
}) {
  return (
    <label>
      Start with{' '}
      <select
        onChange={({ currentTarget: { value } }) => {
          const template = templates.find(({ template_id }) => template_id === value)
          if (template) choose(template)
        }}
      >
        <option value="">a template…</option>
        {templates.map(({ template_id, name }) => (
          <option key={template_id} value={template_id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}

function RefreshChoice({
  refresh,
  change,
}: {
  refresh: Audience['refresh']
  change(refresh: Audience['refresh']): void
}) {
  return (
    <label>
      Members updated{' '}
      <select
        value={refresh}
        onChange={({ currentTarget: { value } }) => change(value as Audience['refresh'])}
      >
        <option value="manual">only after a change of the definition</option>
        <option value="hourly">every hour</option>
        <option value="daily">every day</option>
      </select>
    </label>
  )
}

function EntityChoice({
  entity,
  change,
}: {
  entity: Draft['entity']
  change(entity: Draft['entity']): void
}) {
  return (
    <label>
      Members are{' '}
      <select
        value={entity}
        onChange={({ currentTarget: { value } }) => change(value as Draft['entity'])}
      >
        <option value="people">people</option>
        <option value="companies">companies</option>
      </select>
    </label>
  )
}

type Values = Pick<Audience, 'name' | 'refresh'> & { definition: Definition }

async function saveAudience(
  projectId: string,
  audience: Audience | null,
  values: Values,
): Promise<Pick<Audience, 'id'>> {
  const saved = audience
    ? await api.updateAudience({
        project_id: projectId,
        audience_id: audience.id,
        version: audience.version,
        ...values,
      })
    : await api.createAudience({ project_id: projectId, ...values })
  return saved.audience
}

function SaveButtons({ isNew, cancel }: { isNew: boolean; cancel(): void }) {
  return (
    <div class="actions">
      <button type="submit" class="primary">
        {isNew ? 'Create audience' : 'Save'}
      </button>
      <button type="button" onClick={cancel}>
        Cancel
      </button>
    </div>
  )
}

function NameField({ name, change }: { name: string; change(name: string): void }) {
  return (
    <label class="field">
      <span>Name</span>
      <input
        type="text"
        value={name}
        maxLength={200}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
    </label>
  )
}
