import { api } from '../../api.ts'
import { nameOfMeter, records } from '../../components/amounts.ts'
import { ListPage } from '../../components/listPage.tsx'
import { exactTime } from '../../components/time.ts'
import { useProjectPath } from '../../projectPath.ts'
import { Link } from '../../router.tsx'
import { useListQuery } from '../../useQuery.ts'

export type Audience = Awaited<ReturnType<typeof api.getAudience>>['audience']

/** A project's audiences: people or companies by behavior, profile and interests. */
export function Audiences({ projectId }: { projectId: string }) {
  const pathTo = useProjectPath(projectId)
  const audiences = useListQuery(
    (cursor) => api.listAudiences({ project_id: projectId, cursor }),
    ({ audiences }) => audiences,
  )
  const create = (
    <Link class="button primary" href={pathTo('audiences/new')}>
      New audience
    </Link>
  )
  return (
    <ListPage
      title="Audiences"
      lead="People or companies, selected by behavior, profile and interests. Build an audience once, then read, download or send it."
      create={create}
      query={audiences}
      empty={
        <>
          <h2>Create the first audience</h2>
          <p>Start with a template, check the size and the cost, then save it.</p>
        </>
      }
      columns={columns}
      keyOf={({ id }) => id}
      href={({ id }) => pathTo(`audiences/${id}`)}
    />
  )
}

const columns = [
  { name: 'name', label: 'Name', value: ({ name }: Audience) => name },
  { name: 'entity', label: 'Type', value: ({ entity }: Audience) => entity },
  {
    name: 'status',
    label: 'Newest build',
    value: ({ status }: Audience) => status,
    show: ({ status }: Audience) => (
      <span class={`badge ${status === 'failed' ? 'bad' : status === 'completed' ? '' : 'quiet'}`}>
        {status}
      </span>
    ),
  },
  {
    name: 'count',
    label: 'Members',
    isNumber: true,
    value: ({ count }: Audience) => count,
    show: ({ count }: Audience) => (count === null ? '–' : records(count)),
  },
  { name: 'meter', label: 'Meter', value: ({ meter }: Audience) => nameOfMeter(meter) },
  { name: 'refresh', label: 'Refresh', value: ({ refresh }: Audience) => refresh },
  {
    name: 'built',
    label: 'Built',
    value: ({ built_at }: Audience) => built_at,
    show: ({ built_at }: Audience) => (built_at ? exactTime(built_at) : 'not yet'),
  },
]
