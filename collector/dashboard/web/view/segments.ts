import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type AnalyticsSegment, api } from '../api.ts'

/** The segments of the last shown project. All parts of a page share one request. */
const known = signal<{ projectId: string; segments: readonly AnalyticsSegment[] } | null>(null)
/** The project whose segments were requested last. */
let requested: string | undefined

/** Loads a project's segments and updates all parts of the page. */
export async function loadSegments(projectId: string): Promise<void> {
  requested = projectId
  const { segments } = await api.listAnalyticsSegments({ project_id: projectId })
  known.value = { projectId, segments }
}

/** The segments of a project; none while they load, and on shared pages. A hook. */
export function useSegments(projectId: string | undefined): readonly AnalyticsSegment[] {
  useEffect(() => {
    // A page shows its figures without the names of segments, too.
    if (projectId && requested !== projectId)
      void loadSegments(projectId).catch(() => {
        requested = undefined
      })
  }, [projectId])
  return projectId && known.value?.projectId === projectId ? known.value.segments : []
}

/** Returns the filters of a view with a chosen segment, which replaces an earlier one. */
export const withSegment = (
  filters: readonly string[],
  segments: readonly AnalyticsSegment[],
  chosen: string,
): string[] => {
  const others = filters.filter((text) => !segments.some(({ filter }) => filter === text))
  return chosen === '' ? others : [...others, chosen]
}
