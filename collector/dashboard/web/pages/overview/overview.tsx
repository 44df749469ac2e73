import { api } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { Page } from '../../components/page.tsx'
import { isShared } from '../../shared.ts'
import { useQuery, useQueryOf } from '../../useQuery.ts'
import { NoEvents } from '../../view/noEvents.tsx'
import { useView } from '../../view/view.ts'
import { ViewBar } from '../../view/viewBar.tsx'
import { Annotations, readAnnotations } from './annotations.tsx'
import { CompaniesPanel } from './companiesPanel.tsx'
import { chosenGoal, GoalChoice } from './goalChoice.tsx'
import { type Conversions, GoalsPanel } from './goalsPanel.tsx'
import { Headline } from './headline.tsx'
import { Imported } from './imported.tsx'
import { Live } from './live.tsx'
import { OverviewSkeleton } from './overviewSkeleton.tsx'
import { Panels } from './panels.tsx'

/** Figures of a project's sites, a chart of them, and their breakdown. */
export function Overview({
  projectId,
  title = 'Overview',
  lead,
  hasGoals = true,
}: {
  projectId: string
  title?: string
  lead?: string
  /** Whether the reader may see the goals. */
  hasGoals?: boolean
}) {
  const { view, query, compared } = useView(projectId)
  const { figures, conversions } = useFigures(query, compared, hasGoals)
  const goal = isShared() ? undefined : chosenGoal()
  const annotations = useQuery(isShared() ? async () => [] : readAnnotations(projectId))
  const bots = figures.value?.bots
  const isEmpty =
    figures.value?.overview.events === 0 &&
    !figures.value.imported &&
    !bots?.events &&
    view.filters.length === 0 &&
    !view.pixelId
  return (
    <Page
      title={title}
      lead={lead}
      actions={<Live projectId={projectId} include_bots={query.include_bots} />}
    >
      <div class="wide">
        <ViewBar view={view} bots={bots?.visitors ?? null}>
          {!isShared() && <GoalChoice goals={conversions.value?.conversions ?? []} />}
        </ViewBar>
        <AsyncView query={figures} skeleton={<OverviewSkeleton />}>
          {({ overview, before, imported }) =>
            isEmpty && isShared() ? (
              <p class="empty">No events in this period.</p>
            ) : isEmpty ? (
              <NoEvents projectId={projectId} />
            ) : (
              <div
                class={figures.isStale ? 'figures stale' : 'figures'}
                aria-busy={figures.isStale}
              >
                <Headline
                  view={view}
                  query={query}
                  compared={compared}
                  goal={goal}
                  now={{ ...overview, converted: convertedOf(conversions.value, goal) }}
                  before={
                    before
                      ? { ...before, converted: convertedOf(conversions.value?.before, goal) }
                      : null
                  }
                  annotations={annotations.value}
                >
                  {!isShared() && (
                    <Annotations projectId={projectId} query={annotations} window={query} />
                  )}
                </Headline>
                {imported && <Imported view={view} query={query} totals={imported} />}
                <Panels query={query} compared={compared} goal={goal} visitors={overview.visitors}>
                  {hasGoals && <GoalsPanel projectId={projectId} query={conversions} />}
                  {!isShared() && <CompaniesPanel projectId={projectId} />}
                </Panels>
              </div>
            )
          }
        </AsyncView>
      </div>
    </Page>
  )
}

type View = ReturnType<typeof useView>

/** The figures of a view, with those of the previous period. A hook. */
function useFigures(query: View['query'], compared: View['compared'], hasGoals: boolean) {
  const key = JSON.stringify([query, compared])
  const figures = useQueryOf(key, async () => {
    const [now, before] = await Promise.all([
      api.getAnalyticsOverview(query),
      compared && api.getAnalyticsOverview({ ...query, ...compared }),
    ])
    const { overview, bots, imported } = now
    return { overview, bots, imported, before: before?.overview }
  })
  // Goals that counts of days do not tell take longer than all else.
  const conversions = useQueryOf(key, async () => {
    if (!hasGoals) return null
    const [now, before] = await Promise.all([
      api.getAnalyticsConversions(query),
      compared && api.getAnalyticsConversions({ ...query, ...compared }),
    ])
    return { ...now, before }
  })
  return { figures, conversions }
}

/** Number of visitors who reach the goal, or any goal without one; null until it is loaded, and without goals. */
const convertedOf = (
  found: Pick<Conversions, 'conversions' | 'converted'> | null | undefined,
  goal: string | undefined,
): number | null => {
  if (!found || found.conversions.length === 0) return null
  if (goal === undefined) return found.converted.visitors
  return found.conversions.find(({ name }) => name === goal)?.visitors ?? null
}
