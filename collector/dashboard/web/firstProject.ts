import type { Answer } from '../../api/client/index.ts'
import { api, apiBeforeSession } from './api.ts'
import { projectOfPath } from './projectPath.ts'

type Found = Answer<'getProject'>

let first: { projectId: string; found: Promise<Found | null> } | undefined

/** Requests the project of the first page during the request for the session, one round trip sooner. */
export function requestFirstProject(path: string): void {
  const projectId = projectOfPath(path)
  if (!projectId) return
  const found = apiBeforeSession.getProject({ project_id: projectId }).catch(() => null)
  first = { projectId, found }
}

/** Reads a project; that of the first page was requested already. */
export async function readProject(projectId: string): Promise<Found> {
  const early = first?.projectId === projectId ? await first.found : null
  first = undefined
  return early ?? api.getProject({ project_id: projectId })
}
