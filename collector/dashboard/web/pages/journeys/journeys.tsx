import { api } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { Page } from '../../components/page.tsx'
import { changeParams, useParams } from '../../urlState.ts'
import { useQueryOf } from '../../useQuery.ts'
import { NoEvents } from '../../view/noEvents.tsx'
import { useView } from '../../view/view.ts'
import { ViewBar } from '../../view/viewBar.tsx'
import { JourneyChart } from './journeyChart.tsx'
import { endOf, JourneyEnd } from './journeyEnd.tsx'

const stepsDefault = '4'
const stepsChoices = ['2', '3', stepsDefault, '6', '8', '10']

/** The paths of sessions from page to page. */
export function Journeys({ projectId }: { projectId: string }) {
  const { view, query } = useView(projectId)
  const params = useParams()
  const start = params.get('start') ?? undefined
  const end = endOf(params)
  const asked = params.get('steps') ?? ''
  const steps = stepsChoices.includes(asked) ? asked : stepsDefault
  const journeys = useQueryOf(JSON.stringify([query, start, end, steps]), () =>
    api.getAnalyticsJourneys({ ...query, steps: Number(steps), pages: 6, start, ...end }),
  )
  return (
    <Page
      title="Journeys"
      lead="Paths of sessions from page to page. Choose an end to see what leads to it."
    >
      <div class="wide">
        <ViewBar view={view} hasComparison={false}>
          <select
            aria-label="Length"
            value={steps}
            onChange={({ currentTarget: { value } }) =>
              changeParams((params) => params.set('steps', value))
            }
          >
            {stepsChoices.map((count) => (
              <option key={count} value={count}>
                {count} steps
              </option>
            ))}
          </select>
          <JourneyEnd query={query} end={end} />
          {start !== undefined && (
            <button type="button" onClick={() => changeParams((params) => params.delete('start'))}>
              Start at any page, not at {start}
            </button>
          )}
        </ViewBar>
        <AsyncView query={journeys} lines={10}>
          {({ links }) =>
            links.length > 0 ? (
              <JourneyChart links={links} isStale={journeys.isStale} />
            ) : start === undefined && end === null ? (
              <NoEvents projectId={projectId} />
            ) : (
              <p class="empty">No session has such a journey in this period.</p>
            )
          }
        </AsyncView>
      </div>
    </Page>
  )
}
