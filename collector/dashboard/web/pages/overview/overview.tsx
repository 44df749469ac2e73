import { api } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { Page } from '../../components/page.tsx'
import { isShared } from '../../shared.ts'
import { urlChoice } from '../../urlState.ts'
import { useQueryOf } from '../../useQuery.ts'
import { NoEvents } from '../../view/noEvents.tsx'
import { useView } from '../../view/view.ts'
import { ViewBar } from '../../view/viewBar.tsx'
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
}: {
  projectId: string
  title?: string
  lead?: string
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
  // Goals that counts of days do not tell take longer than all else. They are not shared.
  const conversions = useQueryOf(JSON.stringify([query, compare]), async () =>
    isShared() ? null : api.getAnalyticsConversions({ ...query, compare }),
  )
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
                  <FigureChart series={series} metric={metric} />
                </section>
                <Panels query={query}>
                  {!isShared() && (
                    <>
                      <GoalsPanel projectId={projectId} query={conversions} />
                      <CompaniesPanel projectId={projectId} />
                    </>
                  )}
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
