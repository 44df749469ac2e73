import { api } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { Page } from '../../components/page.tsx'
import { changeParams, useParams } from '../../urlState.ts'
import { useQueryOf } from '../../useQuery.ts'
import { useView } from '../../view/view.ts'
import { ViewBar } from '../../view/viewBar.tsx'
import { CohortTable } from './cohortTable.tsx'

const intervals = { day: 'By day', week: 'By week', month: 'By month' } as const
type Interval = keyof typeof intervals

/** The number of returning visitors, by when they were first seen in the period. */
export function Retention({ projectId }: { projectId: string }) {
  const { view, query } = useView(projectId)
  const asked = useParams().get('interval') ?? ''
  const interval = asked in intervals ? (asked as Interval) : 'week'
  const retention = useQueryOf(JSON.stringify([query, interval]), () =>
    api.getAnalyticsRetention({ ...query, interval }),
  )
  return (
    <Page
      title="Retention"
      lead="How many visitors return, grouped by the interval of their first event. Without consent a visitor is a new one every day."
    >
      <div class="wide">
        <ViewBar view={view} hasComparison={false}>
          <select
            aria-label="Interval"
            onChange={({ currentTarget: { value } }) =>
              changeParams((params) => params.set('interval', value))
            }
          >
            {Object.entries(intervals).map(([name, text]) => (
              <option key={name} value={name} selected={name === interval}>
                {text}
              </option>
            ))}
          </select>
        </ViewBar>
        <AsyncView query={retention} lines={8}>
          {({ interval, cohorts, meta }) => (
            <>
              <CohortTable
                projectId={projectId}
                interval={interval}
                cohorts={cohorts}
                isOpen={meta.end_ms >= Date.now() - 60_000}
                isStale={retention.isStale}
              />
            </>
          )}
        </AsyncView>
      </div>
    </Page>
  )
}
