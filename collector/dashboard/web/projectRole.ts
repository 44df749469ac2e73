import { ownProjects, type ProjectRole } from './api.ts'
import { isOrganizationAdmin, session } from './session.ts'

/** Role of the member in a project: an admin edits, a member reads. */
export async function projectRole(projectId: string): Promise<ProjectRole> {
  const own = (await ownProjects()).find(({ project_id }) => project_id === projectId)
  return own?.role ?? 'member'
}

/** Whether the reader may change what is saved in a project. */
export const mayEdit = async (projectId: string): Promise<boolean> =>
  (session.value ? isOrganizationAdmin(session.value) : false) ||
  (await projectRole(projectId)) === 'admin'
