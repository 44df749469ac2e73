import { useState } from 'preact/hooks'
import { api, type EventDeletion } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { DataTable } from '../../components/dataTable.tsx'
import { Moment } from '../../components/moment.tsx'
import { Section } from '../../components/page.tsx'
import { exactTime } from '../../components/time.ts'
import { wholeNumber } from '../../format.ts'
import { useQuery, useRepeat } from '../../useQuery.ts'
import { textOf } from '../../view/filterText.ts'
import { DeleteEventsDialog } from './deleteEventsDialog.tsx'

const askEveryMs = 5_000

/** Deletions of events by conditions and period, with their progress. */
export function EventDeletions({ projectId }: { projectId: string }) {
  const asked = useQuery(async () => {
    const { event_deletions } = await api.listEventDeletions({ project_id: projectId })
    return event_deletions
  })
  const isPending = asked.value?.some(({ status }) => status === 'pending') ?? false
  useRepeat(asked.reload, askEveryMs, isPending)
  const [isOpen, setOpen] = useState(false)
  return (
    <Section
      title="Deleted events"
      lead="For example of a test or a bot. Figures follow within seconds."
      actions={
        <button type="button" class="danger" onClick={() => setOpen(true)}>
          Delete events…
        </button>
      }
    >
      <AsyncView query={asked}>
        {(deletions) => (
          <DataTable
            caption="Deleted events"
            prefix="deletion-"
            columns={columns}
            rows={deletions}
            keyOf={({ deletion_id }) => deletion_id}
            empty={<p>No events were deleted.</p>}
          />
        )}
      </AsyncView>
      {isOpen && (
        <DeleteEventsDialog
          projectId={projectId}
          deleted={asked.reload}
          close={() => setOpen(false)}
        />
      )}
    </Section>
  )
}

const columns = [
  {
    name: 'requested',
    label: 'Requested',
    value: ({ requested_at }: EventDeletion) => requested_at,
    show: ({ requested_at }: EventDeletion) => <Moment at={requested_at} />,
  },
  {
    name: 'period',
    label: 'Period',
    value: ({ start_ms, end_ms }: EventDeletion) =>
      [start_ms, end_ms].map((ms) => exactTime(new Date(ms).toISOString())).join(' to '),
  },
  {
    name: 'conditions',
    label: 'Events where',
    value: ({ filter }: EventDeletion) => (filter ? textOf(filter) : 'all'),
  },
  {
    name: 'events',
    label: 'Events',
    isNumber: true,
    value: ({ events }: EventDeletion) => events,
    show: ({ events }: EventDeletion) => wholeNumber(events),
  },
  {
    name: 'status',
    label: 'Status',
    value: ({ status }: EventDeletion) => (status === 'complete' ? 'Complete' : 'In progress'),
  },
]
