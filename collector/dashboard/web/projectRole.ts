import { ownProjects, type ProjectRole } from './api.ts'

/** What the member may do in a project: an admin edits, a member looks. */
export async function projectRole(projectId: string): Promise<ProjectRole> {
  const own = (await ownProjects()).find(({ project_id }) => project_id === projectId)
  return own?.role ?? 'member'
}
