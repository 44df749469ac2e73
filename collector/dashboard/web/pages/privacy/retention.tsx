import { api, ownProjects, type Pixel } from '../../api.ts'
import { AsyncView } from '../../parts/asyncView.tsx'
import { Section } from '../../parts/page.tsx'
import { Link } from '../../router.tsx'
import { useSession } from '../../session.ts'
import { useQuery } from '../../useQuery.ts'

interface Kept {
  pixel: Pixel
  project: string
}

/** How long each pixel's events are kept; set on the pixel's page. */
export function Retention() {
  const { organization } = useSession()
  const kept = useQuery(async () => {
    const projects = await ownProjects()
    const lists = await Promise.all(
      projects.map(async ({ project_id, name }) => {
        const found: Kept[] = []
        for await (const pixel of api.listPixels.all({ project_id })) found.push({ pixel, project: name })
        return found
      }),
    )
    return lists.flat()
  })
  return (
    <Section title="Retention" lead="Events older than a pixel keeps them are deleted every night (UTC).">
      <AsyncView query={kept}>
        {(found) =>
          found.length === 0 ? (
            <div class="empty">
              <p>No pixel yet.</p>
            </div>
          ) : (
            <ul class="rows">
              {found.map(({ pixel, project }) => {
                const days = pixel.settings.retention_days
                return (
                  <li key={pixel.pixel_id}>
                    <div>
                      <span class="name">{pixel.name}</span>
                      <p class="meta">{project}</p>
                    </div>
                    <p>{days === null ? 'Kept for good' : `Kept for ${days} days`}</p>
                    <Link
                      href={`/${organization.organization_id}/projects/${pixel.project_id}/pixels/${pixel.pixel_id}?tab=privacy`}
                      aria-label={`Change how long events of ${pixel.name} are kept`}
                    >
                      Change
                    </Link>
                  </li>
                )
              })}
            </ul>
          )
        }
      </AsyncView>
    </Section>
  )
}
