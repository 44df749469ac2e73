import { api } from '../api.ts'
import { AsyncView } from '../components/asyncView.tsx'
import { Link } from '../router.tsx'
import { useSession } from '../session.ts'
import { useQuery } from '../useQuery.ts'
import { zone } from '../zone.ts'
import { daysOf, windowOf } from './periods.ts'
import { changeView, useView, type ViewQuery } from './view.ts'

/** Explains the next step if a view has no events. */
export function NoEvents({ projectId }: { projectId: string }) {
  const { view, query } = useView(projectId)
  return view.filters.length > 0 ? <NoneMatches /> : <NoneYet query={query} />
}

const NoneMatches = () => (
  <div class="empty">
    <h2>No event matches</h2>
    <p>Choose a longer period, or remove a filter.</p>
    <button type="button" onClick={() => changeView({ filters: [] })}>
      Remove all filters
    </button>
  </div>
)

function NoneYet({ query }: { query: ViewQuery }) {
  const { organization } = useSession()
  const { project_id } = query
  const found = useQuery(async () => {
    const now = Date.now()
    const year = windowOf(daysOf('days365', now, zone.value), now, zone.value)
    const [{ pixels }, { overview, imported }] = await Promise.all([
      api.listPixels({ project_id }),
      api.getAnalyticsOverview({ ...query, ...year }),
    ])
    return { pixel: pixels[0], hasEarlier: overview.events > 0 || imported !== undefined }
  })
  const project = `/${organization.organization_id}/projects/${project_id}`
  return (
    <div class="empty">
      <AsyncView query={found}>
        {({ pixel, hasEarlier }) => (
          <>
            <h2>No events in this period</h2>
            {pixel ? (
              <>
                <p>
                  Check that the snippet is on the site. Figures appear a second after the first
                  event.
                </p>
                <Link class="button primary" href={`${project}/pixels/${pixel.pixel_id}`}>
                  Install “{pixel.name}”
                </Link>
              </>
            ) : (
              <>
                <p>
                  Create a pixel and paste its snippet into the site. Figures appear a second after
                  the first event.
                </p>
                <Link class="button primary" href={project}>
                  Create the first pixel
                </Link>
              </>
            )}
            {hasEarlier && (
              <button type="button" onClick={() => changeView({ period: 'days365' })}>
                Look at the last 365 days
              </button>
            )}
          </>
        )}
      </AsyncView>
    </div>
  )
}
