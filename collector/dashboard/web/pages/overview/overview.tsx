import { api } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { Page } from '../../components/page.tsx'
import { isShared } from '../../shared.ts'
import { urlChoice } from '../../urlState.ts'
import { useQuery, useQueryOf } from '../../useQuery.ts'
import { NoEvents } from '../../view/noEvents.tsx'
import { useView } from '../../view/view.ts'
import { ViewBar } from '../../view/viewBar.tsx'
import { Annotations, readAnnotations } from './annotations.tsx'
import { CompaniesPanel } from './companiesPanel.tsx'
import { FigureChart } from './figureChart.tsx'
import { type Conversions, GoalsPanel } from './goalsPanel.tsx'
import { Live } from './live.tsx'
import { Panels } from './panels.tsx'
import { type Metric, metrics, Tiles } from './tiles.tsx'

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
  const { view, query } = useView(projectId)
  const [metric, setMetric] = urlChoice('metric', Object.keys(metrics) as Metric[])
  const compare = view.isCompared ? ('previous' as const) : undefined
  const figures = useQueryOf(JSON.stringify([query, compare]), async () => {
    const asked = { ...query, compare }
    const [{ overview, bots, previous }, series] = await Promise.all([
      api.getAnalyticsOverview(asked),
      api.getAnalyticsTimeseries(asked),
    ])
    return { overview, bots, previous, series }
  })
  // Goals that counts of days do not tell take longer than all else.
  const conversions = useQueryOf(JSON.stringify([query, compare]), async () =>
    !hasGoals ? null : api.getAnalyticsConversions({ ...query, compare }),
  )
  const annotations = useQuery(isShared() ? async () => [] : readAnnotations(projectId))
  const bots = figures.value?.bots
  const isEmpty =
    figures.value?.overview.events === 0 &&
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
        <ViewBar view={view} bots={bots?.visitors ?? null} />
        <AsyncView query={figures} lines={12}>
          {({ overview, previous, series }) =>
            isEmpty && isShared() ? (
              <p class="empty">No events in this period.</p>
            ) : isEmpty ? (
              <NoEvents projectId={projectId} />
            ) : (
              <div
                class={figures.isStale ? 'figures stale' : 'figures'}
                aria-busy={figures.isStale}
              >
                <section class="card headline" aria-label="Figures of the period">
                  <Tiles
                    now={{ ...overview, converted: convertedOf(conversions.value) }}
                    previous={
                      previous && {
                        ...previous,
                        converted: convertedOf(conversions.value?.previous),
                      }
                    }
                    metric={metric}
                    choose={setMetric}
                  />
                  <FigureChart series={series} metric={metric} annotations={annotations.value} />
                  {!isShared() && (
                    <Annotations projectId={projectId} query={annotations} window={query} />
                  )}
                </section>
                <Panels query={query}>
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

/** How many visitors reach a goal; null while nobody knows, and where there are no goals. */
const convertedOf = (
  found: Pick<Conversions, 'conversions' | 'converted'> | null | undefined,
): number | null => (found && found.conversions.length > 0 ? found.converted.visitors : null)
