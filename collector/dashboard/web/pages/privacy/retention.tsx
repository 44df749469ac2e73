import { api, ownProjects, type Pixel } from '../../api.ts'
import { AsyncList } from '../../components/asyncView.tsx'
import { byLargest, byText } from '../../components/listTools.tsx'
import { Section } from '../../components/page.tsx'
import { counted } from '../../format.ts'
import { Link } from '../../router.tsx'
import { useSession } from '../../session.ts'
import { useQuery } from '../../useQuery.ts'

interface Kept {
  pixel: Pixel
  project: string
}

const daysOf = ({ settings }: Pixel): number => settings.retention_days ?? Number.POSITIVE_INFINITY

/** How long each pixel's events are kept; set on the pixel's page. */
export function Retention() {
  const { organization } = useSession()
  const kept = useQuery(async () => {
    const projects = await ownProjects()
    const lists = await Promise.all(
      projects.map(async ({ project_id, name }) => {
        const found: Kept[] = []
        for await (const pixel of api.listPixels.all({ project_id }))
          found.push({ pixel, project: name })
        return found
      }),
    )
    return lists.flat()
  })
  return (
    <Section
      title="Retention"
      lead="Every night (UTC), the service deletes events that are older than the retention of their pixel."
    >
      <AsyncList
        query={kept}
        of="pixels"
        prefix="pixels_"
        arrangement={{
          text: ({ pixel, project }) => `${pixel.name} ${project}`,
          sorts: {
            project: { label: 'By project' },
            name: { label: 'By name', compare: byText(({ pixel }) => pixel.name) },
            longest: {
              label: 'Longest retention first',
              compare: byLargest(({ pixel }) => daysOf(pixel)),
            },
          },
        }}
        empty={<p>No pixels yet.</p>}
      >
        {({ pixel, project }) => (
          <li key={pixel.pixel_id}>
            <div>
              <span class="name">{pixel.name}</span>
              <p class="meta">{project}</p>
            </div>
            <p>{Number.isFinite(daysOf(pixel)) ? counted(daysOf(pixel), 'day') : 'No limit'}</p>
            <Link
              href={`/${organization.organization_id}/projects/${pixel.project_id}/pixels/${pixel.pixel_id}?tab=privacy`}
              aria-label={`Change the retention of ${pixel.name}`}
            >
              Change
            </Link>
          </li>
        )}
      </AsyncList>
    </Section>
  )
}
