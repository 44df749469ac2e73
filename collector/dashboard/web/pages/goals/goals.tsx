import { useState } from 'preact/hooks'
import { type AnalyticsGoal, api } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { CsvButton } from '../../components/csvButton.tsx'
import { Change } from '../../components/figureMarks.tsx'
import {
  type Arrangement,
  arranged,
  byLargest,
  byText,
  isArranged,
  ListTools,
} from '../../components/listTools.tsx'
import { Page } from '../../components/page.tsx'
import { toast } from '../../components/toast.tsx'
import { moneyOf, percent, wholeNumber } from '../../format.ts'
import { mayEdit } from '../../projectRole.ts'
import { setUrl, urlValue } from '../../urlState.ts'
import { useQuery, useQueryOf } from '../../useQuery.ts'
import { Drilldown } from '../../view/drilldown.tsx'
import { FilterButton } from '../../view/filterButton.tsx'
import { textOf } from '../../view/filterText.ts'
import { useView } from '../../view/view.ts'
import { ViewBar } from '../../view/viewBar.tsx'
import { GoalDialog } from './goalDialog.tsx'
import { MissingValues } from './missingValues.tsx'

type Goal = Awaited<ReturnType<typeof api.getAnalyticsConversions>>['conversions'][number]

/** Up to this many goals need no search or order. */
const goalsUnarranged = 3
const arrangement: Arrangement<Goal> = {
  text: ({ name, filter }) => `${name} ${filter}`,
  sorts: {
    added: { label: 'Oldest first' },
    name: { label: 'By name', compare: byText(({ name }) => name) },
    visitors: { label: 'Most visitors', compare: byLargest(({ visitors }) => visitors) },
    rate: { label: 'Highest rate', compare: byLargest(({ rate }) => rate) },
  },
}

/** The goals of a project, with their visitors. */
export function Goals({ projectId }: { projectId: string }) {
  const { view, query, compared } = useView(projectId)
  const edits = useQuery(() => mayEdit(projectId))
  const conversions = useQueryOf(JSON.stringify([query, compared]), async () => {
    const [now, before] = await Promise.all([
      api.getAnalyticsConversions(query),
      compared && api.getAnalyticsConversions({ ...query, ...compared }),
    ])
    return { goals: now.conversions, before: before?.conversions }
  })
  const [edited, setEdited] = useState<AnalyticsGoal | 'new' | null>(null)
  // The page of a pixel proposes a goal for an event that arrives.
  const event = edits.value ? urlValue('event') : ''
  const close = () => {
    setEdited(null)
    setUrl({ event: '' }, { replace: true })
  }
  const remove = async (name: string) => {
    const { goals, version } = await api.getAnalyticsGoals({ project_id: projectId })
    await api.setAnalyticsGoals({
      project_id: projectId,
      version,
      goals: goals.filter((goal) => goal.name !== name),
    })
    toast('Goal removed', async () => {
      const now = await api.getAnalyticsGoals({ project_id: projectId })
      await api.setAnalyticsGoals({
        project_id: projectId,
        version: now.version,
        // Goals of a concurrent change stay unchanged.
        goals: [...now.goals, ...goals.filter((goal) => goal.name === name)],
      })
      await conversions.reload()
    })
    await conversions.reload()
  }
  // Conversions do not contain how a goal's value is read.
  const edit = async (name: string) => {
    const { goals } = await api.getAnalyticsGoals({ project_id: projectId })
    setEdited(goals.find((goal) => goal.name === name) ?? null)
  }
  const add = (
    <button type="button" class="primary" onClick={() => setEdited('new')}>
      New goal
    </button>
  )
  return (
    <Page
      title="Goals"
      lead="Actions that you want visitors to take, and how many visitors take them."
      actions={edits.value && add}
    >
      <div class="wide">
        <ViewBar view={view} />
        <AsyncView query={conversions}>
          {({ goals, before }) =>
            goals.length === 0 ? (
              <div class="empty">
                <h2>No goals yet</h2>
                <p>
                  A goal is an action that you want visitors to take: visit a page, send a form, or
                  download a file. This page then shows how many of them do it.
                </p>
                {edits.value ? add : <p>Ask a project admin to add goals.</p>}
              </div>
            ) : (
              <GoalsTable
                projectId={projectId}
                goals={goals}
                before={before}
                isStale={conversions.isStale}
                {...(edits.value && { edit, remove })}
              />
            )
          }
        </AsyncView>
        {(edited || event) && (
          <GoalDialog
            projectId={projectId}
            goal={edited === 'new' ? null : edited}
            event={event}
            saved={() => {
              close()
              void conversions.reload()
            }}
            close={close}
          />
        )}
      </div>
    </Page>
  )
}

interface Changes {
  /** Opens the dialog of a goal; absent for readers who may not change goals. */
  edit?: ((name: string) => Promise<void>) | undefined
  remove?: ((name: string) => Promise<void>) | undefined
}

/** The goals with their visitors and events, which can be searched and sorted. */
function GoalsTable({
  projectId,
  goals,
  before,
  isStale,
  edit,
  remove,
}: Changes & {
  projectId: string
  goals: readonly Goal[]
  /** The goals in the compared period; absent without a comparison. */
  before: readonly Goal[] | undefined
  isStale: boolean
}) {
  const hasRevenue = goals.some(({ revenue }) => revenue)
  return (
    <section class={isStale ? 'card headline stale' : 'card headline'} aria-label="Goals">
      {(goals.length > goalsUnarranged || isArranged('')) && (
        <ListTools of="goals" prefix="" sorts={arrangement.sorts} />
      )}
      <table class="panel-rows funnel goals">
        <thead>
          <tr>
            <th scope="col">Goal</th>
            <th scope="col">Visitors</th>
            <th scope="col">Rate</th>
            <th scope="col">Events</th>
            {hasRevenue && (
              <th scope="col" class="revenue">
                Revenue
              </th>
            )}
            {edit && (
              <th scope="col">
                <span class="visually-hidden">Change</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {arranged(goals, arrangement, '').map((goal) => (
            <GoalRow
              key={goal.name}
              projectId={projectId}
              goal={goal}
              was={before?.find(({ name }) => name === goal.name)?.visitors}
              hasRevenue={hasRevenue}
              edit={edit}
              remove={remove}
            />
          ))}
        </tbody>
      </table>
      <div class="actions">
        <CsvButton
          name="goals"
          head={['goal', 'filter', 'visitors', 'events', 'revenue', 'currency']}
          rows={() =>
            goals.map(({ name, filter, visitors, events, revenue }) => [
              name,
              filter,
              visitors,
              events,
              revenue?.value ?? null,
              revenue?.currency ?? null,
            ])
          }
        />
      </div>
    </section>
  )
}

function GoalRow({
  projectId,
  goal,
  was,
  hasRevenue,
  edit,
  remove,
}: Changes & {
  projectId: string
  goal: Goal
  /** Visitors in the compared period. */
  was: number | undefined
  hasRevenue: boolean
}) {
  const { name, filter, visitors, rate, events, revenue } = goal
  const amount = revenue && moneyOf(revenue.value, revenue.currency)
  return (
    <tr>
      <th scope="row">
        <FilterButton filters={[filter]}>{name}</FilterButton>
        <span class="meta">{textOf(filter)}</span>
        {amount && <span class="revenue-below">{amount} revenue</span>}
        <MissingValues goal={goal} />
      </th>
      <td>
        <Drilldown projectId={projectId} page="visitors" filters={[filter]}>
          {wholeNumber(visitors)}
        </Drilldown>
        {was ? (
          <span class="change" title={`Before: ${wholeNumber(was)}`}>
            <Change now={visitors} before={was} />
          </span>
        ) : null}
      </td>
      <td>{rate === null ? '–' : percent(rate)}</td>
      <td>
        <Drilldown projectId={projectId} page="events" filters={[filter]}>
          {wholeNumber(events)}
        </Drilldown>
      </td>
      {hasRevenue && <td class="revenue">{amount ?? '–'}</td>}
      {edit && remove && (
        <td class="row-actions">
          <button type="button" aria-label={`Change ${name}`} onClick={() => edit(name)}>
            Change
          </button>
          <button type="button" aria-label={`Remove ${name}`} onClick={() => remove(name)}>
            ×
          </button>
        </td>
      )}
    </tr>
  )
}
