import { useState } from 'preact/hooks'
import { api, type SavedFunnel } from '../../api.ts'
import { Dialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/fields.tsx'
import { Form } from '../../components/form.tsx'
import { toast } from '../../components/toast.tsx'
import { mayEdit } from '../../projectRole.ts'
import { changeParams, urlValue } from '../../urlState.ts'
import { type QueryState, useQuery } from '../../useQuery.ts'

/** Shows the steps of a funnel; with undefined, no funnel. */
export const showFunnel = (funnel: SavedFunnel | undefined) =>
  changeParams((params) => {
    for (const name of ['funnel', 'step', 'within']) params.delete(name)
    if (!funnel) return
    params.set('funnel', funnel.funnel_id)
    params.set('within', String(funnel.within_ms))
    for (const step of funnel.steps) params.append('step', step)
  })

/** Chooses a funnel that the project has saved, and saves the one that the page shows. */
export function SavedFunnels({
  projectId,
  saved,
  steps,
  within,
}: {
  projectId: string
  saved: QueryState<SavedFunnel[]>
  steps: readonly string[]
  within: string
}) {
  const edits = useQuery(() => mayEdit(projectId))
  const [isNaming, setNaming] = useState(false)
  const chosen = saved.value?.find(({ funnel_id }) => funnel_id === urlValue('funnel'))
  const shown = { steps: [...steps], within_ms: Number(within) }
  const isChanged =
    chosen &&
    JSON.stringify(shown) !== JSON.stringify({ steps: chosen.steps, within_ms: chosen.within_ms })
  const create = async (funnel: Pick<SavedFunnel, 'name' | 'steps' | 'within_ms'>) => {
    const { name, steps, within_ms } = funnel
    const created = await api.createAnalyticsSavedFunnel({
      project_id: projectId,
      name,
      steps: [...steps],
      within_ms,
    })
    await saved.reload()
    showFunnel(created.funnel)
  }
  const remove = async (funnel: SavedFunnel) => {
    await api.deleteAnalyticsSavedFunnel({ funnel_id: funnel.funnel_id })
    await saved.reload()
    showFunnel(undefined)
    toast('Funnel deleted', () => create(funnel))
  }
  return (
    <>
      {saved.value && saved.value.length > 0 && (
        <FunnelChoice funnels={saved.value} chosen={chosen} />
      )}
      {edits.value && chosen && isChanged && steps.length > 1 && (
        <button
          type="button"
          class="primary"
          onClick={async () => {
            const { funnel_id, version } = chosen
            await api.updateAnalyticsSavedFunnel({ funnel_id, version, ...shown })
            await saved.reload()
            toast(`${chosen.name} saved`)
          }}
        >
          Save changes
        </button>
      )}
      {edits.value && steps.length > 1 && (
        <button type="button" onClick={() => setNaming(true)}>
          {chosen ? 'Save as…' : 'Save funnel'}
        </button>
      )}
      {edits.value && chosen && (
        <button type="button" aria-label={`Delete ${chosen.name}`} onClick={() => remove(chosen)}>
          Delete
        </button>
      )}
      {isNaming && (
        <NameDialog save={(name) => create({ name, ...shown })} close={() => setNaming(false)} />
      )}
    </>
  )
}

function FunnelChoice({
  funnels,
  chosen,
}: {
  funnels: readonly SavedFunnel[]
  chosen: SavedFunnel | undefined
}) {
  return (
    <select
      aria-label="Saved funnel"
      onChange={({ currentTarget: { value } }) =>
        showFunnel(funnels.find(({ funnel_id }) => funnel_id === value))
      }
    >
      <option value="">New funnel</option>
      {funnels.map(({ funnel_id, name }) => (
        <option key={funnel_id} value={funnel_id} selected={funnel_id === chosen?.funnel_id}>
          {name}
        </option>
      ))}
    </select>
  )
}

function NameDialog({ save, close }: { save(name: string): Promise<void>; close(): void }) {
  return (
    <Dialog title="Save funnel" close={close}>
      <Form
        submit={async ({ name = '' }) => {
          await save(name)
          close()
          toast('Funnel saved')
        }}
        action="Save funnel"
        cancel={close}
      >
        <TextField
          name="name"
          label="Name"
          hint="Everybody in the project can open it."
          maxLength={200}
          autocomplete="off"
          required
        />
      </Form>
    </Dialog>
  )
}
