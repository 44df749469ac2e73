import { useId } from 'preact/hooks'
import { type OwnProject, ownProjects } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { Page } from '../../components/page.tsx'
import { isOrganizationAdmin, useSession } from '../../session.ts'
import { urlChoice } from '../../urlState.ts'
import { useQuery } from '../../useQuery.ts'
import { ByKey } from './byKey.tsx'
import { Figures } from './figures.tsx'
import { Forecast } from './forecast.tsx'
import { Limits } from './limits.tsx'
import { type Period, periods, spanOf } from './periods.ts'
import { PriceList } from './priceList.tsx'

/** Charges by day, and the remaining budgets and limits. */
export function Usage() {
  const projects = useQuery(ownProjects)
  return <AsyncView query={projects}>{(own) => <Chosen projects={own} />}</AsyncView>
}

/** The option for the organization in the list of projects. */
const all = 'all'

function Chosen({ projects }: { projects: OwnProject[] }) {
  const isAdmin = isOrganizationAdmin(useSession())
  const choices = Object.fromEntries([
    ...(isAdmin ? [[all, 'All projects']] : []),
    ...projects.map(({ project_id, name }) => [project_id, name]),
  ])
  const [project, setProject] = urlChoice('project', Object.keys(choices))
  const [period, setPeriod] = urlChoice('period', Object.keys(periods) as Period[])
  const ofProject = project === all ? {} : { project_id: project! }
  return (
    <Page title="Usage" lead="Charged records, by the day of the read (UTC).">
      {project === undefined ? (
        <div class="empty">
          <p>You are not in a project yet. An admin of the organization can add you to one.</p>
        </div>
      ) : (
        <>
          <div class="filters">
            <Choose label="Project" options={choices} value={project!} choose={setProject} />
            <Choose
              label="Period"
              options={periods}
              value={period}
              choose={(chosen) => setPeriod(chosen as Period)}
            />
          </div>
          <Forecast key={project} projectId={ofProject.project_id} />
          {/* Another selection loads other figures. */}
          <Figures key={`${project} ${period}`} query={{ ...ofProject, ...spanOf(period) }} />
          <ByKey key={`keys ${project} ${period}`} query={{ ...ofProject, ...spanOf(period) }} />
        </>
      )}
      <PriceList />
      {isAdmin && <Limits projects={projects} />}
    </Page>
  )
}

/** A selection stored in the address. */
function Choose({
  label,
  options,
  value,
  choose,
}: {
  label: string
  options: Record<string, string>
  value: string
  choose(option: string): void
}) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        {Object.entries(options).map(([option, text]) => (
          <option key={option} value={option} selected={option === value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  )
}
