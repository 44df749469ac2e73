import { signal } from '@preact/signals'
import { useSession } from './session.ts'

/** Returns a function that completes paths below the project. A hook. */
export function useProjectPath(projectId: string): (path: string) => string {
  const { organization } = useSession()
  return (path) => `/${organization.organization_id}/projects/${projectId}/${path}`
}

/** Returns the project of an address; undefined for other addresses. */
export const projectOfPath = (path: string): string | undefined =>
  /^\/[0-9a-f-]{36}\/projects\/([0-9a-f-]{36})(?:\/|$)/i.exec(path)?.[1]?.toLowerCase()

/** The project whose pages were open last in this document. */
export const lastProject = signal<string | undefined>(undefined)
