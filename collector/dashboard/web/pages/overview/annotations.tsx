import { useState } from 'preact/hooks'
import { type AnalyticsAnnotation, api } from '../../api.ts'
import { exactTime } from '../../components/time.ts'
import { lazyPage } from '../../lazyPage.tsx'
import { mayEdit } from '../../projectRole.ts'
import { type QueryState, useQuery } from '../../useQuery.ts'

const AnnotationDialog = lazyPage(() =>
  import('./annotationDialog.tsx').then(({ AnnotationDialog }) => AnnotationDialog),
)

export const readAnnotations = (projectId: string) => () =>
  api.listAnalyticsAnnotations({ project_id: projectId }).then(({ annotations }) => annotations)

/** The annotations of the chart, by time, and a button that adds one. */
export function Annotations({
  projectId,
  query,
  window: { start_ms, end_ms },
}: {
  projectId: string
  query: QueryState<AnalyticsAnnotation[]>
  window: { start_ms: number; end_ms: number }
}) {
  const edits = useQuery(() => mayEdit(projectId))
  const [open, setOpen] = useState<AnalyticsAnnotation | 'new' | null>(null)
  const shown = (query.value ?? [])
    .filter(({ at }) => Date.parse(at) >= start_ms && Date.parse(at) < end_ms)
    .toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at))
  if (shown.length === 0 && !edits.value) return null
  return (
    <section class="annotations" aria-label="Annotations">
      {shown.length > 0 && (
        <ul>
          {shown.map((annotation) => (
            <li key={annotation.annotation_id}>
              <time dateTime={annotation.at}>{exactTime(annotation.at)}</time>
              <span>{annotation.text}</span>
              {edits.value && (
                <button
                  type="button"
                  class="link"
                  aria-label={`Edit ${annotation.text}`}
                  onClick={() => setOpen(annotation)}
                >
                  Edit
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      {edits.value && (
        <button type="button" class="link" onClick={() => setOpen('new')}>
          Add annotation
        </button>
      )}
      {open && (
        <AnnotationDialog
          projectId={projectId}
          annotation={open === 'new' ? null : open}
          changed={async () => {
            setOpen(null)
            await query.reload()
          }}
          close={() => setOpen(null)}
        />
      )}
    </section>
  )
}
