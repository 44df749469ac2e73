import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { ApiError, api, messageOf } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { Page } from '../../components/page.tsx'
import { toast } from '../../components/toast.tsx'
import { useProjectPath } from '../../projectPath.ts'
import { go } from '../../router.tsx'
import { useQuery } from '../../useQuery.ts'
import type { Audience } from './audiences.tsx'
import {
  type Definition,
  type Draft,
  definitionOf,
  draftOf,
  emptyLeaf,
  type Leaf,
} from './draft.ts'
import { Estimate } from './estimate.tsx'
import { type Choices, LeafEditor } from './leafEditor.tsx'

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

const newDraft: Draft = { entity: 'people', match: 'all', include: [emptyLeaf.event], exclude: [] }

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
    (audience?.definition as Definition | undefined) ?? definitionOf(newDraft),
  )
  const [fault, setFault] = useState('')
  const draft = draftOf(definition)
  const change = (part: Partial<Draft>) =>
    draft && setDefinition(definitionOf({ ...draft, ...part }))

  const save = async (event: Event) => {
    event.preventDefault()
    try {
      const values = { name: name.trim() || 'New audience', definition, refresh }
      const saved = audience
        ? await api.updateAudience({
            project_id: projectId,
            audience_id: audience.id,
            version: audience.version,
            ...values,
          })
        : await api.createAudience({ project_id: projectId, ...values })
      toast(audience ? 'Saved. A new build starts.' : 'Created. The first build starts.')
      go(pathTo(`audiences/${saved.audience.id}`))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setFault(messageOf(error))
    }
  }

  return (
    <Page title={audience ? `Change ${audience.name}` : 'New audience'}>
      <div class="wide builder">
        <form onSubmit={save} noValidate>
          <label class="field">
            <span>Name</span>
            <input
              type="text"
              value={name}
              maxLength={200}
              onInput={({ currentTarget }) => setName(currentTarget.value)}
            />
          </label>
          <div class="toolbar">
            {!audience && (
              <label>
                Start with{' '}
                <select
                  onChange={({ currentTarget: { value } }) => {
                    const template = templates.find(({ template_id }) => template_id === value)
                    if (!template) return
                    setName(template.name)
                    setDefinition(template.definition as Definition)
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
            )}
            <label>
              Of{' '}
              <select
                value={definition.entity}
                onChange={({ currentTarget: { value } }) =>
                  setDefinition({ ...definition, entity: value as Draft['entity'] })
                }
              >
                <option value="people">people</option>
                <option value="companies">companies</option>
              </select>
            </label>
            <label>
              Built{' '}
              <select
                value={refresh}
                onChange={({ currentTarget: { value } }) =>
                  setRefresh(value as Audience['refresh'])
                }
              >
                <option value="manual">when it is changed</option>
                <option value="hourly">hourly</option>
                <option value="daily">daily</option>
              </select>
            </label>
          </div>
          {draft ? (
            <>
              <Leaves
                title="Include who matches"
                leaves={draft.include}
                choices={choices}
                change={(include) => change({ include })}
                keepsOne
              >
                <select
                  aria-label="Number of conditions to match"
                  value={draft.match}
                  onChange={({ currentTarget: { value } }) =>
                    change({ match: value as Draft['match'] })
                  }
                >
                  <option value="all">all of these</option>
                  <option value="any">any of these</option>
                </select>
              </Leaves>
              <Leaves
                title="Exclude who matches any of these"
                leaves={draft.exclude}
                choices={choices}
                change={(exclude) => change({ exclude })}
              />
            </>
          ) : (
            <JsonDefinition definition={definition} change={setDefinition} />
          )}
          {fault && (
            <p class="fault" role="alert">
              {fault}
            </p>
          )}
          <div class="actions">
            <button type="submit" class="primary">
              {audience ? 'Save' : 'Create audience'}
            </button>
            <button
              type="button"
              onClick={() => go(pathTo(audience ? `audiences/${audience.id}` : 'audiences'))}
            >
              Cancel
            </button>
          </div>
        </form>
        <Estimate projectId={projectId} definition={definition} />
      </div>
    </Page>
  )
}

function Leaves({
  title,
  leaves,
  choices,
  change,
  keepsOne = false,
  children,
}: {
  title: string
  leaves: readonly Leaf[]
  choices: Choices
  change(leaves: Leaf[]): void
  keepsOne?: boolean
  children?: ComponentChildren
}) {
  return (
    <fieldset class="leaves">
      <legend>{title}</legend>
      {children}
      {leaves.map((leaf, index) => (
        <LeafEditor
          // Conditions have no other identity than their index.
          key={index}
          leaf={leaf}
          label={`condition ${index + 1}`}
          choices={choices}
          change={(changed) => change(leaves.with(index, changed))}
          remove={
            keepsOne && leaves.length === 1 ? undefined : () => change(leaves.toSpliced(index, 1))
          }
        />
      ))}
      <button type="button" onClick={() => change([...leaves, emptyLeaf.event])}>
        Add a condition
      </button>
    </fieldset>
  )
}

/** Shows a definition that the builder does not support, as JSON. */
function JsonDefinition({
  definition,
  change,
}: {
  definition: Definition
  change(definition: Definition): void
}) {
  const [text, setText] = useState(JSON.stringify(definition, null, 2))
  const [fault, setFault] = useState('')
  return (
    <label class="field">
      <span>Definition (JSON). It is nested, as GET /api/v1/audiences/schema describes</span>
      <textarea
        rows={14}
        spellcheck={false}
        value={text}
        aria-invalid={fault !== ''}
        onInput={({ currentTarget: { value } }) => {
          setText(value)
          try {
            change(JSON.parse(value))
            setFault('')
          } catch (error) {
            setFault((error as Error).message)
          }
        }}
      />
      {fault && <span class="fault">{fault}</span>}
    </label>
  )
}
