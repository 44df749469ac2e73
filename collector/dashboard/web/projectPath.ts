import { useSession } from './session.ts'

/** The addresses of a project's pages: `path` is below the project's own. A hook. */
export function useProjectPath(projectId: string): (path: string) => string {
  const { organization } = useSession()
  return (path) => `/${organization.organization_id}/projects/${projectId}/${path}`
}

/** The project that an address is about; undefined of others. */
export const projectOfPath = (path: string): string | undefined =>
  /^\/[0-9a-f-]{36}\/projects\/([0-9a-f-]{36})(?:\/|$)/i.exec(path)?.[1]?.toLowerCase()
