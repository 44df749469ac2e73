import { type AnalyticsSegment, api } from '../api.ts'
import { AsyncView } from '../components/asyncView.tsx'
import { Dialog } from '../components/dialog.tsx'
import { TextField } from '../components/fields.tsx'
import { Form } from '../components/form.tsx'
import { toast } from '../components/toast.tsx'
import { mayEdit } from '../projectRole.ts'
import { useQuery } from '../useQuery.ts'
import { textOf } from './filterText.ts'
import { loadSegments, useSegments, withSegment } from './segments.ts'
import { changeView } from './view.ts'

/** Saves the filters of the page as a segment, and changes or deletes the segments of the project. */
export function SegmentDialog({
  projectId,
  filters,
  close,
}: {
  projectId: string
  filters: readonly string[]
  close(): void
}) {
  const segments = useSegments(projectId)
  const edits = useQuery(() => mayEdit(projectId))
  const filter = filters.join(',')
  const isSaved = segments.some((segment) => segment.filter === filter)
  const remove = async ({ segment_id, name, filter }: AnalyticsSegment) => {
    await api.deleteAnalyticsSegment({ segment_id })
    toast('Segment deleted', async () => {
      await api.createAnalyticsSegment({ project_id: projectId, name, filter })
      await loadSegments(projectId)
    })
    await loadSegments(projectId)
  }
  const replace = async (segment: AnalyticsSegment) => {
    const { segment_id, version } = segment
    await api.updateAnalyticsSegment({ segment_id, version, filter })
    await loadSegments(projectId)
    changeView({ filters: withSegment([], segments, filter) })
    toast(`${segment.name} saved`)
    close()
  }
  return (
    <Dialog title="Segments" close={close}>
      <AsyncView query={edits} lines={3}>
        {(isAdmin) => (
          <>
            <p class="hint">Everybody in the project can choose these saved filters.</p>
            {segments.length > 0 && (
              <ul class="saved-items">
                {segments.map((segment) => (
                  <SegmentItem
                    key={segment.segment_id}
                    segment={segment}
                    remove={isAdmin && (() => remove(segment))}
                    replace={isAdmin && filter !== '' && !isSaved && (() => replace(segment))}
                  />
                ))}
              </ul>
            )}
            {!isAdmin ? (
              <p>Ask a project admin to save segments.</p>
            ) : filter === '' ? (
              <p>Add a filter to the page first. You can then save it as a segment.</p>
            ) : (
              <NewSegmentForm projectId={projectId} filter={filter} close={close} />
            )}
          </>
        )}
      </AsyncView>
    </Dialog>
  )
}

/** A segment with its buttons. `replace` saves the filters of the page in it. */
function SegmentItem({
  segment,
  replace,
  remove,
}: {
  segment: AnalyticsSegment
  replace: false | (() => Promise<void>)
  remove: false | (() => Promise<void>)
}) {
  return (
    <li>
      <span>
        <strong>{segment.name}</strong>
        <span class="meta">{textOf(segment.filter)}</span>
      </span>
      {replace && (
        <button type="button" onClick={replace}>
          Replace with current filters
        </button>
      )}
      {remove && (
        <button type="button" aria-label={`Delete ${segment.name}`} onClick={remove}>
          ×
        </button>
      )}
    </li>
  )
}

function NewSegmentForm({
  projectId,
  filter,
  close,
}: {
  projectId: string
  filter: string
  close(): void
}) {
  return (
    <Form
      submit={async ({ name = '' }) => {
        await api.createAnalyticsSegment({ project_id: projectId, name, filter })
        await loadSegments(projectId)
        changeView({ filters: [filter] })
        toast('Segment saved')
        close()
      }}
      action="Save segment"
      cancel={close}
    >
      <p>{textOf(filter)}</p>
      <TextField
        name="name"
        label="Name"
        hint="Such as “Phones from Germany”."
        maxLength={200}
        autocomplete="off"
        required
      />
    </Form>
  )
}
