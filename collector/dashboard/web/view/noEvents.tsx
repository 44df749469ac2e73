import { api } from '../api.ts'
import { AsyncView } from '../components/asyncView.tsx'
import { Link } from '../router.tsx'
import { useSession } from '../session.ts'
import { useQuery } from '../useQuery.ts'
import { changeView, useView } from './view.ts'

/** Explains the next step if a view has no events. */
export function NoEvents({ projectId }: { projectId: string }) {
  const { filters } = useView(projectId).view
  return filters.length > 0 ? <NoneMatches /> : <NoneYet projectId={projectId} />
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

function NoneYet({ projectId }: { projectId: string }) {
  const { organization } = useSession()
  const pixels = useQuery(() => api.listPixels({ project_id: projectId }))
  const project = `/${organization.organization_id}/projects/${projectId}`
  return (
    <div class="empty">
      <AsyncView query={pixels}>
        {({ pixels: [pixel] }) => (
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
            <button type="button" onClick={() => changeView({ period: 'days365' })}>
              Look at the last 365 days
            </button>
          </>
        )}
      </AsyncView>
    </div>
  )
}
