import { useState } from 'preact/hooks'
import { lazyPage } from '../lazyPage.tsx'
import { projectOfPath } from '../projectPath.ts'
import { currentPath } from '../router.tsx'
import { useSegments, withSegment } from './segments.ts'
import { changeView, type View } from './view.ts'

const SegmentDialog = lazyPage(() =>
  import('./segmentDialog.tsx').then(({ SegmentDialog }) => SegmentDialog),
)

const editing = 'edit'

/** Chooses one of the project's segments as a filter, and leads to saving them. */
export function SegmentPicker({ view: { filters } }: { view: View }) {
  const projectId = projectOfPath(currentPath.value)
  const segments = useSegments(projectId)
  const [isEditing, setEditing] = useState(false)
  const chosen = segments.find(({ filter }) => filters.includes(filter))
  if (!projectId) return null
  return (
    <>
      <select
        class="segment"
        aria-label="Segment"
        value={chosen?.segment_id ?? ''}
        onChange={({ currentTarget }) => {
          if (currentTarget.value === editing) {
            currentTarget.value = chosen?.segment_id ?? ''
            setEditing(true)
            return
          }
          const segment = segments.find(({ segment_id }) => segment_id === currentTarget.value)
          changeView({ filters: withSegment(filters, segments, segment?.filter ?? '') })
        }}
      >
        <option value="">{segments.length > 0 ? 'All segments' : 'Segments'}</option>
        {segments.map(({ segment_id, name }) => (
          <option key={segment_id} value={segment_id}>
            {name}
          </option>
        ))}
        <option value={editing}>Save or edit segments…</option>
      </select>
      {isEditing && (
        <SegmentDialog projectId={projectId} filters={filters} close={() => setEditing(false)} />
      )}
    </>
  )
}
