import { api } from '../api.ts'
import { AsyncView } from '../components/asyncView.tsx'
import { Page } from '../components/page.tsx'
import { RenameAndDelete } from '../components/renameAndDelete.tsx'
import { projectRole } from '../projectRole.ts'
import { Link } from '../router.tsx'
import { isOrganizationAdmin, useSession } from '../session.ts'
import { useQuery } from '../useQuery.ts'
import { ProjectMembers } from './projectMembers.tsx'
import { ProjectPixels } from './projectPixels.tsx'

export function ProjectPage({ projectId }: { projectId: string }) {
  const session = useSession()
  const loaded = useQuery(async () => {
    const [{ project }, role] = await Promise.all([
      api.getProject({ project_id: projectId }),
      projectRole(projectId),
    ])
    return { project, mayEdit: role === 'admin' }
  })
  return (
    <AsyncView query={loaded}>
      {({ project, mayEdit }) => {
        const { project_id } = project
        const projects = `/${project.organization_id}/projects`
        return (
          <Page
            title={project.name}
            lead={
              <>
                <Link href={projects}>Projects</Link> <span aria-hidden="true">/</span> project id{' '}
                <code>{project_id}</code>
              </>
            }
            actions={
              mayEdit && (
                <RenameAndDelete
                  what="project"
                  object={project}
                  rename={(name, version) => api.updateProject({ project_id, name, version })}
                  renamed={(project) => loaded.set({ project, mayEdit })}
                  mayDelete={isOrganizationAdmin(session)}
                  remove={(events) => api.deleteProject({ project_id, events })}
                  parent={projects}
                />
              )
            }
          >
            <ProjectPixels project={project} mayEdit={mayEdit} />
            <ProjectMembers project={project} mayEdit={mayEdit} />
          </Page>
        )
      }}
    </AsyncView>
  )
}
