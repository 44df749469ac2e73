import { api } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { Page } from '../../components/page.tsx'
import { isShared } from '../../shared.ts'
import { useQuery } from '../../useQuery.ts'
import { NoEvents } from '../../view/noEvents.tsx'
import { useRefreshed, useView } from '../../view/view.ts'
import { ViewBar } from '../../view/viewBar.tsx'
import { Annotations, readAnnotations } from './annotations.tsx'
import { AsOf } from './asOf.tsx'
import { CompaniesPanel } from './companiesPanel.tsx'
import { chosenGoal, GoalChoice } from './goalChoice.tsx'
import { type Conversions, GoalsPanel } from './goalsPanel.tsx'
import { Headline } from './headline.tsx'
import { Imported } from './imported.tsx'
import { Live } from './live.tsx'
import { OverviewSkeleton } from './overviewSkeleton.tsx'
import { Panels } from './panels.tsx'
import type { RevenueChange } from './tiles.tsx'

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
  const shown = useView(projectId)
  const { view, query, compared } = shown
  const { figures, conversions } = useFigures(shown, hasGoals)
  const goal = isShared() ? undefined : chosenGoal()
  const annotations = useQuery(isShared() ? async () => [] : readAnnotations(projectId))
  const areGoalsSettled = conversions.value !== undefined || conversions.error !== undefined
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
      actions={
        <>
          <Live projectId={projectId} include_bots={query.include_bots} />
          <AsOf at={figures.value?.asOf} view={view} />
        </>
      }
    >
      <div class="wide">
        <ViewBar view={view} bots={bots?.visitors ?? null}>
          {!isShared() && <GoalChoice goals={conversions.value?.conversions ?? []} />}
        </ViewBar>
        <AsyncView
          // Both at once, so that no tile appears later and moves the others.
          query={{ ...figures, value: areGoalsSettled ? figures.value : undefined }}
          skeleton={<OverviewSkeleton />}
        >
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
                  revenue={revenueChanges(conversions.value, goal)}
                  annotations={annotations.value}
                >
                  {!isShared() && (
                    <Annotations projectId={projectId} query={annotations} window={query} />
                  )}
                </Headline>
                {imported && <Imported view={view} query={query} totals={imported} />}
                <Panels
                  query={query}
                  compared={compared}
                  goal={goal}
                  visitors={overview.visitors}
                  isStale={figures.isStale}
                >
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
function useFigures({ view: { comparison }, query, compared }: View, hasGoals: boolean) {
  const key = [query, compared]
  // The previous period comes with the same request, other ones need their own.
  const isPrevious = comparison === 'previous'
  const compare = isPrevious ? 'previous' : undefined
  const others = isPrevious ? null : compared
  const readFigures = async () => {
    const asOf = Date.now()
    const [{ overview, bots, imported, previous }, other] = await Promise.all([
      api.getAnalyticsOverview({ ...query, compare }),
      others && api.getAnalyticsOverview({ ...query, ...others }),
    ])
    return { overview, bots, imported, before: other?.overview ?? previous, asOf }
  }
  const readConversions = async () => {
    if (!hasGoals) return null
    const [now, other] = await Promise.all([
      api.getAnalyticsConversions({ ...query, compare }),
      others && api.getAnalyticsConversions({ ...query, ...others }),
    ])
    return { ...now, before: other ?? now.previous }
  }
  const figures = useRefreshed(key, readFigures)
  const conversions = useRefreshed(key, readConversions)
  return { figures, conversions }
}

type Found = Pick<Conversions, 'conversions' | 'converted'>

/** Number of visitors who reach the goal, or any goal without one; null until it is loaded, and without goals. */
const convertedOf = (found: Found | null | undefined, goal: string | undefined): number | null => {
  if (!found || found.conversions.length === 0) return null
  if (goal === undefined) return found.converted.visitors
  return found.conversions.find(({ name }) => name === goal)?.visitors ?? null
}

/** The revenue of the goal, or of all goals without one, by currency. */
function revenueChanges(
  found: (Found & { before: Found | null }) | null | undefined,
  goal: string | undefined,
): RevenueChange[] {
  if (!found) return []
  const sums = ({ conversions, converted }: Found) =>
    goal === undefined
      ? converted.revenue
      : conversions.flatMap(({ name, revenue }) => (name === goal && revenue) || [])
  const before = found.before && sums(found.before)
  return sums(found).map((revenue) => ({
    ...revenue,
    before: before && (before.find(({ currency }) => currency === revenue.currency)?.value ?? 0),
  }))
}
