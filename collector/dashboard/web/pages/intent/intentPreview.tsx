import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { records } from '../../components/amounts.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { DataTable } from '../../components/dataTable.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/fields.tsx'
import { Form } from '../../components/form.tsx'
import { FreeAnswersLeft } from '../../components/freeAnswersLeft.tsx'
import { Section } from '../../components/page.tsx'
import { costOf, loadPrices, usePrices } from '../../components/prices.ts'
import { TabPanel, Tabs } from '../../components/tabs.tsx'
import { toast } from '../../components/toast.tsx'
import { useProjectPath } from '../../projectPath.ts'
import { go } from '../../router.tsx'
import { setUrl, urlChoice } from '../../urlState.ts'
import { useQuery } from '../../useQuery.ts'
import { labelOfField } from '../../view/labels.ts'
import { type PreviewRow, previewFields, previewValue } from './previewFields.ts'

const tabs = { people: 'People', companies: 'Companies' } as const
type Entity = keyof typeof tabs
const entities = Object.keys(tabs) as Entity[]
const rowsMax = 25

const nothing = { total: 0, rows: [] }

/** The scores and the masked fields of a preview, which is never charged. */
async function preview(
  entity: Entity,
  topic: string,
): Promise<{ total: number; rows: PreviewRow[] }> {
  const asked = { topic, limit: rowsMax }
  if (entity === 'people') {
    const found = await api.previewPeopleByTopic(asked)
    if ('dry_run' in found) return nothing
    const { results, total } = found
    return { total, rows: results.map(({ person, ...found }) => ({ ...found, ...person })) }
  }
  const found = await api.previewCompaniesByTopic(asked)
  if ('dry_run' in found) return nothing
  const { results, total } = found
  return { total, rows: results.map(({ company, ...found }) => ({ ...found, ...company })) }
}

/** The free preview of people and companies interested in a topic, and a button that creates their audience. */
export function IntentPreview({
  projectId,
  topic,
  label,
}: {
  projectId: string
  topic: string
  label: string
}) {
  const [entity, choose] = urlChoice('of', entities)
  const [isSaving, setSaving] = useState(false)
  return (
    <Section
      title={`Interested in ${label}`}
      lead="Names and addresses are masked. An audience of them can be read, downloaded or sent."
      actions={
        <>
          <button type="button" class="primary" onClick={() => setSaving(true)}>
            Save as audience
          </button>
          <button type="button" onClick={() => setUrl({ topic: '', of: '' })}>
            Close
          </button>
        </>
      }
    >
      <Tabs set="intent" label="Who is interested" tabs={tabs} current={entity} choose={choose} />
      {entities.map((name) => (
        <TabPanel key={name} set="intent" tab={name} current={entity}>
          {name === entity && <Preview key={name} entity={name} topic={topic} />}
        </TabPanel>
      ))}
      {isSaving && (
        <SaveDialog
          projectId={projectId}
          entity={entity}
          topic={topic}
          label={label}
          close={() => setSaving(false)}
        />
      )}
    </Section>
  )
}

function Preview({ entity, topic }: { entity: Entity; topic: string }) {
  const prices = usePrices()
  const found = useQuery(async () => {
    const answer = await preview(entity, topic)
    void loadPrices().catch(() => {})
    return answer
  })
  return (
    <AsyncView query={found} lines={6}>
      {({ total, rows }) => {
        return (
          <>
            <p>
              {total === 1
                ? entity === 'people'
                  ? '1 person'
                  : '1 company'
                : `${records(total)} ${entity}`}
              {total > 0 && prices.value && (
                <span class="hint"> Reading all: {costOf(prices.value, 'intent', total)}.</span>
              )}
            </p>
            <FreeAnswersLeft />
            {rows.length > 0 && (
              <DataTable
                caption={`Preview of ${entity}, masked`}
                prefix="intent-"
                canSearch={false}
                columns={previewFields(rows).map((name) => ({
                  name,
                  label: labelOfField(name),
                  isNumber: name === 'score',
                  value: (row: PreviewRow) => previewValue(row, name),
                }))}
                rows={rows}
                keyOf={(row) => String(rows.indexOf(row))}
              />
            )}
          </>
        )
      }}
    </AsyncView>
  )
}

/** Asks for the name of an audience of everyone who is interested in a topic. */
function SaveDialog({
  projectId,
  entity,
  topic,
  label,
  close,
}: {
  projectId: string
  entity: Entity
  topic: string
  label: string
  close(): void
}) {
  const pathTo = useProjectPath(projectId)
  return (
    <Dialog title="Save as audience" close={close}>
      <Form
        values={{ name: `Interested in ${label}`, min_score: '50' }}
        submit={async ({ name = '', min_score = '0' }) => {
          const { audience } = await api.createAudience({
            project_id: projectId,
            name,
            definition: {
              entity,
              include: { intent: { topics: [topic], min_score: Number(min_score) } },
            },
          })
          toast('Audience created')
          go(pathTo(`audiences/${audience.id}`))
        }}
        action="Create audience"
        cancel={close}
      >
        <TextField name="name" label="Name" maxLength={200} autocomplete="off" required />
        <TextField
          name="min_score"
          label="Score of at least"
          hint="From 0 to 100: how much stronger the interest is than usual."
          type="number"
          min={0}
          max={100}
          required
        />
      </Form>
    </Dialog>
  )
}
