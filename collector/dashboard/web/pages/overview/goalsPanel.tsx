import type { api } from '../../api.ts'
import { ActionsMenu } from '../../components/actionsMenu.tsx'
import { AsyncView } from '../../components/asyncView.tsx'
import { CsvButton } from '../../components/csvButton.tsx'
import { ShareBar } from '../../components/figureMarks.tsx'
import { moneyOf, percent, wholeNumber } from '../../format.ts'
import { useProjectPath } from '../../projectPath.ts'
import { Link } from '../../router.tsx'
import { isShared } from '../../shared.ts'
import type { QueryState } from '../../useQuery.ts'
import { Drilldown } from '../../view/drilldown.tsx'
import { FilterButton } from '../../view/filterButton.tsx'
import { MissingValues } from '../goals/missingValues.tsx'

export type Conversions = Awaited<ReturnType<typeof api.getAnalyticsConversions>>

/** How many visitors reach each goal; a click on one filters the whole page by it. */
export function GoalsPanel({
  projectId,
  query,
}: {
  projectId: string
  query: QueryState<Conversions | null>
}) {
  const conversions = query.value?.conversions ?? []
  return (
    <section class="card panel" aria-label="Goals">
      <header class="panel-header">
        <h2>Goals</h2>
        {conversions.length > 0 && (
          <ActionsMenu of="Goals">
            <CsvButton
              name="goals"
              head={['goal', 'visitors', 'events', 'revenue', 'currency']}
              rows={() =>
                conversions.map(({ name, visitors, events, revenue }) => [
                  name,
                  visitors,
                  events,
                  revenue?.value ?? null,
                  revenue?.currency ?? null,
                ])
              }
            />
          </ActionsMenu>
        )}
      </header>
      <AsyncView query={query} lines={8}>
        {(found) =>
          found === null ? null : found.conversions.length === 0 ? (
            <p class="meta">No goals yet. {!isShared() && <AddGoals projectId={projectId} />}</p>
          ) : (
            <Rows projectId={projectId} conversions={found.conversions} />
          )
        }
      </AsyncView>
    </section>
  )
}

function AddGoals({ projectId }: { projectId: string }) {
  const pathTo = useProjectPath(projectId)
  return <Link href={pathTo('goals')}>Add goals</Link>
}

function Rows({
  projectId,
  conversions,
}: { projectId: string } & Pick<Conversions, 'conversions'>) {
  const hasRevenue = conversions.some(({ revenue }) => revenue)
  return (
    <table class={hasRevenue ? 'panel-rows with-revenue' : 'panel-rows'}>
      <thead>
        <tr>
          <th scope="col">Goal</th>
          <th scope="col">Visitors</th>
          <th scope="col">Rate</th>
          {hasRevenue && <th scope="col">Revenue</th>}
        </tr>
      </thead>
      <tbody>
        {conversions.map((goal) => (
          <tr key={goal.name}>
            <th scope="row">
              <ShareBar of={goal.rate ?? 0} />
              {isShared() ? (
                goal.name
              ) : (
                <FilterButton filters={[goal.filter]}>{goal.name}</FilterButton>
              )}
              <MissingValues goal={goal} />
            </th>
            <td>
              <Drilldown projectId={projectId} page="visitors" filters={[goal.filter]}>
                {wholeNumber(goal.visitors)}
              </Drilldown>
            </td>
            <td>{goal.rate === null ? '–' : percent(goal.rate)}</td>
            {hasRevenue && (
              <td>{goal.revenue ? moneyOf(goal.revenue.value, goal.revenue.currency) : '–'}</td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
