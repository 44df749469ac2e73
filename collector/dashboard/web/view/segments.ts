import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type AnalyticsSegment, api } from '../api.ts'

/** The segments of the project that was shown last: every part of a page that names them shares one request. */
const known = signal<{ projectId: string; segments: readonly AnalyticsSegment[] } | null>(null)

/** Asks for a project's segments, and shows them everywhere. */
export async function loadSegments(projectId: string): Promise<void> {
  const { segments } = await api.listAnalyticsSegments({ project_id: projectId })
  known.value = { projectId, segments }
}

/** The segments of a project; none while they load, and on shared pages. A hook. */
export function useSegments(projectId: string | undefined): readonly AnalyticsSegment[] {
  useEffect(() => {
    // A page shows its figures without the names of segments, too.
    if (projectId && known.peek()?.projectId !== projectId)
      void loadSegments(projectId).catch(() => {})
  }, [projectId])
  return projectId && known.value?.projectId === projectId ? known.value.segments : []
}

/** The filters of a view after a segment is chosen: it replaces the segment that was chosen before. */
export const withSegment = (
  filters: readonly string[],
  segments: readonly AnalyticsSegment[],
  chosen: string,
): string[] => {
  const others = filters.filter((text) => !segments.some(({ filter }) => filter === text))
  return chosen === '' ? others : [...others, chosen]
}
