import { ownProjects, type ProjectRole } from './api.ts'

/** Role of the member in a project: an admin edits, a member reads. */
export async function projectRole(projectId: string): Promise<ProjectRole> {
  const own = (await ownProjects()).find(({ project_id }) => project_id === projectId)
  return own?.role ?? 'member'
}
