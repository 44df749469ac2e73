import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { api, type Project, type ProjectActivity } from '../api.ts'
import { AsyncList } from '../components/asyncView.tsx'
import { DeleteDialog } from '../components/deleteDialog.tsx'
import { Dialog } from '../components/dialog.tsx'
import { TextField } from '../components/fields.tsx'
import { Form } from '../components/form.tsx'
import { type Arrangement, byLargest, byText } from '../components/listTools.tsx'
import { Page } from '../components/page.tsx'
import { RelativeTime } from '../components/relativeTime.tsx'
import { RenameDialog } from '../components/renameDialog.tsx'
import { toast } from '../components/toast.tsx'
import { go, Link } from '../router.tsx'
import { isOrganizationAdmin, useSession } from '../session.ts'
import { useListQuery, useQuery } from '../useQuery.ts'
import { presentZone } from '../view/zoneNames.ts'
import { EuropeField, europeValues, settingsFor } from './pixel/europe.tsx'
import { ProjectGlance } from './projectGlance.tsx'
import { siteOrigins } from './siteOrigins.ts'

/** Of the browser. */
const time_zone = presentZone(Intl.DateTimeFormat().resolvedOptions().timeZone)

const pathOf = (project: Project) => `/${project.organization_id}/projects/${project.project_id}`

type Open = { kind: 'create' } | { kind: 'rename' | 'delete'; project: Project } | null

export function Projects() {
  const session = useSession()
  const mayEdit = isOrganizationAdmin(session)
  const projects = useListQuery(
    (cursor) => api.listProjects({ cursor }),
    ({ projects }) => projects,
  )
  const activity = useQuery(
    async () =>
      new Map((await api.listProjectActivity()).projects.map((found) => [found.project_id, found])),
  )
  const activityOf = ({ project_id }: Project) => activity.value?.get(project_id)
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  const create = (
    <button type="button" class="primary" onClick={() => setOpen({ kind: 'create' })}>
      New project
    </button>
  )

  return (
    <Page
      title="Projects"
      lead="A project is a site or a product, with its pixels, events and people."
      actions={mayEdit && projects.value?.length !== 0 && create}
    >
      <AsyncList
        query={projects}
        of="projects"
        arrangement={arrangementOf(activityOf)}
        empty={<NoProjects create={mayEdit && create} />}
      >
        {(project) => (
          <ProjectItem
            key={project.project_id}
            project={project}
            activity={activityOf(project)}
            choose={mayEdit && ((kind) => setOpen({ kind, project }))}
          />
        )}
      </AsyncList>

      {open?.kind === 'create' && <NewProjectDialog close={close} />}
      {open?.kind === 'rename' && (
        <RenameDialog
          what="project"
          object={open.project}
          save={(name, version) =>
            api.updateProject({ project_id: open.project.project_id, name, version })
          }
          renamed={async () => {
            close()
            await projects.reload()
          }}
          close={close}
        />
      )}
      {open?.kind === 'delete' && (
        <DeleteDialog
          what="project"
          name={open.project.name}
          remove={async (events) => {
            await api.deleteProject({ project_id: open.project.project_id, events })
            close()
            toast('Project deleted')
            await projects.reload()
          }}
          close={close}
        />
      )}
    </Page>
  )
}

const arrangementOf = (
  activityOf: (project: Project) => ProjectActivity | undefined,
): Arrangement<Project> => ({
  text: ({ name }) => name,
  sorts: {
    created: { label: 'Oldest first' },
    name: { label: 'By name', compare: byText(({ name }) => name) },
    visitors: {
      label: 'Most visitors today',
      compare: byLargest((project) => activityOf(project)?.visitors.at(-1) ?? null),
    },
    last: {
      label: 'Latest event',
      compare: byLargest((project) => activityOf(project)?.last_event_at ?? null),
    },
  },
})

function NoProjects({ create }: { create: ComponentChildren }) {
  const session = useSession()
  return create ? (
    <>
      <h2>Start with a project</h2>
      <p>
        Then create a pixel in it, paste its snippet into your site, and watch the first event
        arrive.
      </p>
      {create}
    </>
  ) : (
    <>
      <h2>No projects yet</h2>
      <p>Ask an admin of {session.organization.name} to add you to one.</p>
    </>
  )
}

function ProjectItem({
  project,
  activity,
  choose,
}: {
  project: Project
  activity: ProjectActivity | undefined
  /** Opens a dialog of the project; false for readers who may not change it. */
  choose: false | ((kind: 'rename' | 'delete') => void)
}) {
  return (
    <li>
      <div>
        {/* If there are no events, the overview explains how to install the pixel. */}
        <Link class="name" href={`${pathOf(project)}/overview`}>
          {project.name}
        </Link>
        <p class="meta">
          Created <RelativeTime at={project.created_at} />
        </p>
      </div>
      <ProjectGlance activity={activity} />
      {choose && (
        <div class="actions">
          <button
            type="button"
            aria-label={`Rename ${project.name}`}
            onClick={() => choose('rename')}
          >
            Rename
          </button>
          <button
            type="button"
            aria-label={`Delete ${project.name}`}
            onClick={() => choose('delete')}
          >
            Delete
          </button>
        </div>
      )}
    </li>
  )
}

function NewProjectDialog({ close }: { close(): void }) {
  return (
    <Dialog title="New project" close={close}>
      <Form
        values={europeValues}
        submit={async (values) => {
          const { name = '', site = '' } = values
          const allowed_origins = siteOrigins(site)
          const { project } = await api.createProject({ name, time_zone })
          if (allowed_origins.length === 0) return go(pathOf(project))
          const { project_id } = project
          const { pixel } = await api
            .createPixel({ project_id, name, allowed_origins, ...settingsFor(values) })
            .catch(async (error: unknown) => {
              // Otherwise each try leaves a project without a pixel.
              await api.deleteProject({ project_id }).catch(() => {})
              throw error
            })
          go(`${pathOf(project)}/pixels/${pixel.pixel_id}`)
        }}
        action="Create project"
        cancel={close}
      >
        <TextField name="name" label="Name" maxLength={200} required />
        <TextField
          name="site"
          label="Address of the site (optional)"
          hint="Such as https://www.example.com. The project gets a pixel that accepts events from this address only, with and without www. You see its snippet next."
        />
        <EuropeField />
      </Form>
    </Dialog>
  )
}
