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

/** What people begin with, in the order in which they do. */
const samplesFor = (project_id: string): Sample[] => [
  {
    title: 'Count events',
    lead: 'Free: how many there were, by type, in the last 24 hours.',
    operation: 'countEvents',
    params: { project_id, group_by: 'event_type' },
  },
  {
    title: 'Read events',
    lead: 'One record on the meter Events for each.',
    operation: 'listEvents',
    params: { project_id, select: 'timestamp,event_type,page_path', limit: 10 },
  },
  {
    title: 'Follow events as they arrive',
    lead: 'Ask again with next_cursor: each event comes once, however late it was.',
    operation: 'listEvents',
    params: { project_id, order: 'received', limit: 1_000 },
  },
  {
    title: 'Who visited',
    lead: 'One row for each person who is known, charged once a request.',
    operation: 'listVisitors',
    params: {
      project_id,
      start_ms: Math.floor(Date.now() / dayMs) * dayMs - 7 * dayMs,
      end_ms: Math.floor(Date.now() / dayMs) * dayMs,
      limit: 100,
    },
  },
  {
    title: 'Make an audience',
    lead: 'It is built at once; its records are charged when they are read.',
    operation: 'createAudience',
    params: {
      project_id,
      name: 'Looked at prices',
      definition: {
        entity: 'people',
        include: {
          event: { event_type: 'page_view', filter: 'page_path:like:/pricing%', within_days: 14 },
        },
      },
    },
  },
  {
    title: 'What happened to an event',
    lead: 'Free: stored or rejected, and why.',
    operation: 'traceEvent',
    params: { project_id, event_id: 'YOUR_EVENT_ID' },
  },
  {
    title: 'Your requests and their charges',
    lead: 'Free: the log that the page Requests shows.',
    operation: 'listRequests',
    params: { project_id, charged: true },
  },
]

/** Calls to begin with, in three languages, about the reader's own project. */
export function Samples() {
  const { organization } = useSession()
  const projects = useQuery(ownProjects)
  return (
    <Page
      title="Code samples"
      lead={
        <>
          About your own project, ready to run with{' '}
          <a href={`/${organization.organization_id}/settings/api-keys`}>a key</a>. Everything else
          is in the <a href="/docs">API documentation</a>.
        </>
      }
    >
      <AsyncView query={projects}>
        {(own) => {
          const project = own.find(({ project_id }) => project_id === urlValue('project')) ?? own[0]
          if (!project)
            return (
              <p>You are in no project yet. An admin of the organization can add you to one.</p>
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
