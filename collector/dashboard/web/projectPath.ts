import { useSession } from './session.ts'

/** The addresses of a project's pages: `path` is below the project's own. A hook. */
export function useProjectPath(projectId: string): (path: string) => string {
  const { organization } = useSession()
  return (path) => `/${organization.organization_id}/projects/${projectId}/${path}`
}
