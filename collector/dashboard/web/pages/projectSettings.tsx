import { api, type Project } from '../api.ts'
import { AsyncView } from '../components/asyncView.tsx'
import { LinesField, linesFrom, linesOf } from '../components/fields.tsx'
import type { Values } from '../components/form.tsx'
import { Page } from '../components/page.tsx'
import { projectRole } from '../projectRole.ts'
import { useQuery } from '../useQuery.ts'
import { ProjectForm, type ProjectFormProps } from './projectForm.tsx'
import { ProjectTimeZone } from './projectTimeZone.tsx'

/** The settings of a project: its time zone, hosts that start no session, and the traffic whose events are not stored. */
export function ProjectSettings({ projectId }: { projectId: string }) {
  const loaded = useQuery(async () => {
    const [{ project }, role, { network }] = await Promise.all([
      api.getProject({ project_id: projectId }),
      projectRole(projectId),
      api.getOwnNetwork(),
    ])
    return { project, network, mayEdit: role === 'admin' }
  })
  return (
    <AsyncView query={loaded}>
      {({ project, network, mayEdit }) => {
        const saved = (project: Project) => loaded.set({ project, network, mayEdit })
        return (
          <Page title="Project settings" lead={project.name}>
            <ProjectTimeZone {...{ project, mayEdit, saved }} />
            <TransitHosts {...{ project, mayEdit, saved }} />
            <IgnoredTraffic {...{ project, mayEdit, saved, network }} />
          </Page>
        )
      }}
    </AsyncView>
  )
}

const TransitHosts = (props: ProjectFormProps) => (
  <ProjectForm
    {...props}
    title="Sign-in and payment pages"
    lead="Visitors who come back from these hosts go on with their visit. Known providers, such as accounts.google.com, need no entry."
    valuesOf={({ transit_hosts }) => ({ transit_hosts: linesFrom(transit_hosts) })}
    changeOf={({ transit_hosts = '' }) => ({ transit_hosts: linesOf(transit_hosts) })}
    toastText="Settings saved: they apply to new events"
    action="Save hosts"
  >
    <LinesField
      name="transit_hosts"
      label="Hosts"
      hint="Such as login.example.com, or example.com for every host of that site, one on each line."
    />
  </ProjectForm>
)

function IgnoredTraffic({ network, ...props }: ProjectFormProps & { network: string }) {
  return (
    <ProjectForm
      {...props}
      title="Ignored traffic"
      lead="Events from these networks, hosts and paths are not stored, and identify no visitor."
      valuesOf={valuesOf}
      changeOf={({ ignored_networks = '', ignored_hosts = '', ignored_paths = '' }) => ({
        ignored_networks: linesOf(ignored_networks),
        ignored_hosts: linesOf(ignored_hosts),
        ignored_paths: linesOf(ignored_paths),
      })}
      toastText="Settings saved: collectors apply them within seconds"
      action="Save settings"
      isLong
    >
      <LinesField
        name="ignored_networks"
        label="Ignored networks"
        hint="IPv4 or IPv6 addresses, or networks such as 203.0.113.0/24 or 2001:db8::/48, one on each line."
      />
      <div class="actions">
        <button
          type="button"
          onClick={({ currentTarget }) => addNetwork(currentTarget.form!, network)}
        >
          Add your network ({network})
        </button>
      </div>
      <LinesField
        name="ignored_hosts"
        label="Ignored hosts"
        hint="Such as staging.example.com, or *.example.com for every host below example.com, one on each line. Every port matches."
      />
      <LinesField
        name="ignored_paths"
        label="Ignored paths"
        hint="/preview matches itself and every path below it. With *, the complete path must match: /*/preview/* or *.pdf. One on each line."
      />
    </ProjectForm>
  )
}

const valuesOf = ({ ignored_networks, ignored_hosts, ignored_paths }: Project): Values => ({
  ignored_networks: linesFrom(ignored_networks),
  ignored_hosts: linesFrom(ignored_hosts),
  ignored_paths: linesFrom(ignored_paths),
})

/** Adds the user's network to the field, unless it contains it; the user still has to save. */
function addNetwork(form: HTMLFormElement, network: string): void {
  const field = form.elements.namedItem('ignored_networks') as HTMLTextAreaElement
  const networks = linesOf(field.value)
  if (!networks.includes(network)) field.value = linesFrom([...networks, network])
  field.dispatchEvent(new Event('input', { bubbles: true }))
  field.focus()
}
