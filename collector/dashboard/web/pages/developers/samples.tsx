import { ownProjects } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { type Call, CodeSamples } from '../../components/codeSamples.tsx'
import { Page, Section } from '../../components/page.tsx'
import { useSession } from '../../session.ts'
import { setUrl, urlValue } from '../../urlState.ts'
import { useQuery } from '../../useQuery.ts'

interface Sample extends Call {
  title: string
  lead: string
}

const dayMs = 86_400_000

/** First calls for new users, in order. */
const samplesFor = (project_id: string): Sample[] => [
  {
    title: 'Count events',
    lead: 'Free. Number of events by type in the last 24 hours.',
    operation: 'countEvents',
    params: { project_id, group_by: 'event_type' },
  },
  {
    title: 'Read events',
    lead: 'Charged as one record on the meter Events for each event.',
    operation: 'listEvents',
    params: { project_id, select: 'timestamp,event_type,page_path', limit: 10 },
  },
  {
    title: 'Follow events as they arrive',
    lead: 'Repeat with next_cursor. You receive each event once, however late it arrives.',
    operation: 'listEvents',
    params: { project_id, order: 'received', limit: 1_000 },
  },
  {
    title: 'List visitors',
    lead: 'One row for each identified person, charged once per request.',
    operation: 'listVisitors',
    params: {
      project_id,
      start_ms: Math.floor(Date.now() / dayMs) * dayMs - 7 * dayMs,
      end_ms: Math.floor(Date.now() / dayMs) * dayMs,
      limit: 100,
    },
  },
  {
    title: 'Create an audience',
    lead: 'The build starts at once. Records are charged when you read them.',
    operation: 'createAudience',
    params: {
      project_id,
      name: 'Visitors of the pricing page',
      definition: {
        entity: 'people',
        include: {
          event: { event_type: 'page_view', filter: 'page_path:like:/pricing%', within_days: 14 },
        },
      },
    },
  },
  {
    title: 'Trace an event',
    lead: 'Free. Stored or rejected, with the reason.',
    operation: 'traceEvent',
    params: { project_id, event_id: 'YOUR_EVENT_ID' },
  },
  {
    title: 'Requests and charges',
    lead: 'Free. The log on the page Requests.',
    operation: 'listRequests',
    params: { project_id, charged: true },
  },
]

/** Sample calls in three languages, for the user's own project. */
export function Samples() {
  const { organization } = useSession()
  const projects = useQuery(ownProjects)
  return (
    <Page
      title="Code samples"
      lead={
        <>
          For your own project, ready to run with{' '}
          <a href={`/${organization.organization_id}/settings/api-keys`}>a key</a>. The{' '}
          <a href="/docs">API documentation</a> describes all operations.
        </>
      }
    >
      <AsyncView query={projects}>
        {(own) => {
          const project = own.find(({ project_id }) => project_id === urlValue('project')) ?? own[0]
          if (!project)
            return (
              <p>You are not in a project yet. An admin of the organization can add you to one.</p>
            )
          return (
            <>
              <div class="toolbar">
                <label>
                  Project{' '}
                  <select
                    value={project.project_id}
                    onChange={({ currentTarget: { value } }) => setUrl({ project: value })}
                  >
                    {own.map(({ project_id, name }) => (
                      <option key={project_id} value={project_id}>
                        {name}
                      </option>
                    ))}
                  </select>
                </label>
              </div>
              {samplesFor(project.project_id).map(({ title, lead, ...call }, index) => (
                <Section key={title} title={title} lead={lead}>
                  <CodeSamples set={`sample-${index}`} call={call} />
                </Section>
              ))}
            </>
          )
        }}
      </AsyncView>
    </Page>
  )
}
