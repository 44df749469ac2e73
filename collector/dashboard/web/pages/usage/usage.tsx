import { useState } from 'preact/hooks'
import { type OwnProject, ownProjects } from '../../api.ts'
import { AsyncView } from '../../parts/asyncView.tsx'
import { Select } from '../../parts/fields.tsx'
import { Page } from '../../parts/page.tsx'
import { isOrganizationAdmin, useSession } from '../../session.ts'
import { useQuery } from '../../useQuery.ts'
import { Figures } from './figures.tsx'
import { Limits } from './limits.tsx'
import { daysOf, type Period, periods } from './periods.ts'

/** What was charged, day by day, and what budgets and limits leave. */
export function Usage() {
  const projects = useQuery(ownProjects)
  return <AsyncView query={projects}>{(own) => <Chosen projects={own} />}</AsyncView>
}

/** What stands for the whole organization among the projects. */
const all = 'all'

function Chosen({ projects }: { projects: OwnProject[] }) {
  const isAdmin = isOrganizationAdmin(useSession())
  const choices = Object.fromEntries([
    ...(isAdmin ? [[all, 'All projects']] : []),
    ...projects.map(({ project_id, name }) => [project_id, name]),
  ])
  const [project, setProject] = useState(Object.keys(choices)[0])
  const [period, setPeriod] = useState<Period>('month')
  return (
    <Page title="Usage" lead="Records that were charged, by the day they were read on (UTC).">
      {project === undefined ? (
        <div class="empty">
          <p>You are in no project yet. An admin of the organization can add you to one.</p>
        </div>
      ) : (
        <>
          <div class="filters">
            <Select name="project" label="Project" options={choices} onChange={setProject} />
            <Select
              name="period"
              label="Period"
              options={periods}
              onChange={(chosen) => setPeriod(chosen as Period)}
            />
          </div>
          {/* Another choice, other figures: these are loaded anew. */}
          <Figures
            key={`${project} ${period}`}
            query={{ ...(project !== all && { project_id: project }), ...daysOf(period) }}
          />
        </>
      )}
      {isAdmin && <Limits projects={projects} />}
    </Page>
  )
}
