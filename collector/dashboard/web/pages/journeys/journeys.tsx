import { api } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { Page } from '../../components/page.tsx'
import { changeParams, useParams } from '../../urlState.ts'
import { useQueryOf } from '../../useQuery.ts'
import { Estimate } from '../../view/estimate.tsx'
import { NoEvents } from '../../view/noEvents.tsx'
import { useView } from '../../view/view.ts'
import { ViewBar } from '../../view/viewBar.tsx'
import { JourneyChart } from './journeyChart.tsx'

/** The paths of sessions from page to page. */
export function Journeys({ projectId }: { projectId: string }) {
  const { view, query } = useView(projectId)
  const start = useParams().get('start') ?? undefined
  const journeys = useQueryOf(JSON.stringify([query, start]), () =>
    api.getAnalyticsJourneys({ ...query, steps: 4, pages: 6, start }),
  )
  return (
    <Page title="Journeys" lead="Paths of sessions from page to page.">
      <div class="wide">
        <ViewBar view={view} hasComparison={false}>
          {start !== undefined && (
            <button type="button" onClick={() => changeParams((params) => params.delete('start'))}>
              Start at any page, not at {start}
            </button>
          )}
        </ViewBar>
        <AsyncView query={journeys} lines={10}>
          {({ links, meta }) =>
            links.length === 0 ? (
              <NoEvents projectId={projectId} />
            ) : (
              <>
                <Estimate fraction={meta.sample_fraction} />
                <JourneyChart links={links} isStale={journeys.isStale} />
              </>
            )
          }
        </AsyncView>
      </div>
    </Page>
  )
}
