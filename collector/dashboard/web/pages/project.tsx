import { useState } from 'preact/hooks'
import { api, type Project } from '../api.ts'
import { AsyncView } from '../components/asyncView.tsx'
import { DeleteDialog } from '../components/deleteDialog.tsx'
import { Page } from '../components/page.tsx'
import { toast } from '../components/toast.tsx'
import { projectRole } from '../projectRole.ts'
import { go, Link } from '../router.tsx'
import { isOrganizationAdmin, useSession } from '../session.ts'
import { useQuery } from '../useQuery.ts'
import { ProjectMembers } from './projectMembers.tsx'
import { ProjectPixels } from './projectPixels.tsx'
import { RenameProject } from './projects.tsx'

export function ProjectPage({ projectId }: { projectId: string }) {
  const loaded = useQuery(async () => {
    const [{ project }, role] = await Promise.all([
      api.getProject({ project_id: projectId }),
      projectRole(projectId),
    ])
    return { project, mayEdit: role === 'admin' }
  })
  return (
    <AsyncView query={loaded}>
      {({ project, mayEdit }) => (
        <Loaded
          project={project}
          mayEdit={mayEdit}
          changed={(project) => loaded.set({ project, mayEdit })}
        />
      )}
    </AsyncView>
  )
}

function Loaded({
  project,
  mayEdit,
  changed,
}: {
  project: Project
  mayEdit: boolean
  changed(project: Project): void
}) {
  const session = useSession()
  const [open, setOpen] = useState<'rename' | 'delete' | null>(null)
  const close = () => setOpen(null)
  const projects = `/${project.organization_id}/projects`
  return (
    <Page
      title={project.name}
      lead={
        <>
          <Link href={projects}>Projects</Link> <span aria-hidden="true">/</span> project id{' '}
          <code>{project.project_id}</code>
        </>
      }
      actions={
        mayEdit && (
          <>
            <button type="button" onClick={() => setOpen('rename')}>
              Rename
            </button>
            {isOrganizationAdmin(session) && (
              <button type="button" onClick={() => setOpen('delete')}>
                Delete
              </button>
            )}
          </>
        )
      }
    >
      <ProjectPixels project={project} mayEdit={mayEdit} />
      <ProjectMembers project={project} mayEdit={mayEdit} />

      {open === 'rename' && (
        <RenameProject
          project={project}
          renamed={(project) => {
            close()
            changed(project)
          }}
          close={close}
        />
      )}
      {open === 'delete' && (
        <DeleteDialog
          what="project"
          name={project.name}
          remove={async (events) => {
            await api.deleteProject({ project_id: project.project_id, events })
            toast('Project deleted')
            go(projects)
          }}
          close={close}
        />
      )}
    </Page>
  )
}
