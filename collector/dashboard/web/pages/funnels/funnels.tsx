import { useState } from 'preact/hooks'
import { api, type SavedFunnel } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { Page } from '../../components/page.tsx'
import { lazyPage } from '../../lazyPage.tsx'
import { currentSearch } from '../../router.tsx'
import { changeParams } from '../../urlState.ts'
import { useQuery, useQueryOf } from '../../useQuery.ts'
import { textOf } from '../../view/filterText.ts'
import { readFunnel, withins } from '../../view/funnelView.ts'
import { useView } from '../../view/view.ts'
import { ViewBar } from '../../view/viewBar.tsx'
import { FunnelTable } from './funnelTable.tsx'
import { SavedFunnels, showFunnel } from './savedFunnels.tsx'

const FilterDialog = lazyPage(() =>
  import('../../view/filterDialog.tsx').then(({ FilterDialog }) => FilterDialog),
)

const stepsMax = 10

/** Number of visitors that take steps in order; the address contains the steps. */
export function Funnels({ projectId }: { projectId: string }) {
  const { view, query } = useView(projectId)
  const { steps, within } = readFunnel(currentSearch.value)
  const [isAdding, setAdding] = useState(false)
  const saved = useQuery(() =>
    api.listAnalyticsSavedFunnels({ project_id: projectId }).then(({ funnels }) => funnels),
  )
  const setSteps = (to: string[]) =>
    changeParams((params) => {
      params.delete('step')
      for (const step of to) params.append('step', step)
    })
  const funnel = useQueryOf(JSON.stringify([query, steps, within]), async () =>
    steps.length < 2
      ? null
      : api.getAnalyticsFunnel({ ...query, steps: [...steps], within_ms: Number(within) }),
  )
  return (
    <Page title="Funnels" lead="How many visitors take the steps in order, and where they stop.">
      <div class="wide">
        <ViewBar view={view} hasComparison={false} />
        <section class="card headline" aria-label="Steps">
          <StepList steps={steps} change={setSteps} />
          <div class="actions">
            {steps.length < stepsMax && (
              <button type="button" onClick={() => setAdding(true)}>
                Add a step
              </button>
            )}
            <select
              aria-label="Time for all steps"
              onChange={({ currentTarget: { value } }) =>
                changeParams((params) => params.set('within', value))
              }
            >
              {Object.entries(withins).map(([millis, text]) => (
                <option key={millis} value={millis} selected={millis === within}>
                  {text}
                </option>
              ))}
            </select>
            <SavedFunnels projectId={projectId} saved={saved} steps={steps} within={within} />
          </div>
        </section>
        {steps.length < 2 ? (
          <TooFewSteps saved={saved.value ?? []} change={setSteps} />
        ) : (
          <AsyncView query={funnel} lines={6}>
            {(found) =>
              found && (
                <FunnelTable
                  projectId={projectId}
                  within={within}
                  steps={found.steps}
                  isStale={funnel.isStale}
                />
              )
            }
          </AsyncView>
        )}
        {isAdding && (
          <FilterDialog
            title="Step"
            action="Add step"
            add={(step: string) => setSteps([...steps.filter((other) => other !== step), step])}
            close={() => setAdding(false)}
          />
        )}
      </div>
    </Page>
  )
}

/** The steps in order, with buttons that move and remove them. */
function StepList({ steps, change }: { steps: readonly string[]; change(steps: string[]): void }) {
  return (
    <ol class="steps funnel-steps">
      {steps.map((step, index) => (
        <li key={step}>
          <span>
            {index + 1}. {textOf(step)}
          </span>
          {index > 0 && (
            <button
              type="button"
              aria-label={`Move step ${index + 1} up`}
              onClick={() => {
                const to = [...steps]
                ;[to[index - 1], to[index]] = [step, steps[index - 1]!]
                change(to)
              }}
            >
              ↑
            </button>
          )}
          <button
            type="button"
            aria-label={`Remove step ${index + 1}`}
            onClick={() => change(steps.filter((_, other) => other !== index))}
          >
            ×
          </button>
        </li>
      ))}
    </ol>
  )
}

function TooFewSteps({
  saved,
  change,
}: {
  saved: readonly SavedFunnel[]
  change(steps: string[]): void
}) {
  return (
    <div class="empty">
      <h2>A funnel has at least two steps</h2>
      <p>
        A step is a page that visitors view or an event that they send. Add the steps in order
        {saved.length > 0 && ', or open a saved funnel'}.
      </p>
      <button
        type="button"
        onClick={() => change(['event_type:eq:page_view', 'event_type:eq:form_submission'])}
      >
        Try it: from a page view to a form
      </button>
      {saved.map((funnel) => (
        <button key={funnel.funnel_id} type="button" onClick={() => showFunnel(funnel)}>
          {funnel.name}
        </button>
      ))}
    </div>
  )
}
