import { useState } from 'preact/hooks'
import { api, type RejectedEvent } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { DataTable } from '../../components/dataTable.tsx'
import { Moment } from '../../components/moment.tsx'
import { Section } from '../../components/page.tsx'
import { useQuery } from '../../useQuery.ts'
import { faultText } from '../../view/faultText.ts'
import { labelOfValue } from '../../view/labels.ts'
import { ResendDialog } from './resendDialog.tsx'

/** Rows of the table at first, and for each further click. */
const pageRows = 20
const loadedMax = 100

/** The latest rejected events of a project with their reasons; an admin corrects and resends one. */
export function RejectedEvents({
  projectId,
  mayRepair,
}: {
  projectId: string
  mayRepair: boolean
}) {
  const asked = useQuery(async () => {
    const { rejected_events, meta } = await api.listRejectedEvents({
      project_id: projectId,
      limit: loadedMax,
    })
    // A refused beacon has no stored content that could be corrected.
    return { events: rejected_events.filter(({ refusal }) => refusal === null), meta }
  })
  const [resent, setResent] = useState<RejectedEvent | null>(null)
  return (
    <Section
      title="Rejected events"
      lead="Events of the last 30 days that the collector could not store. A resent event keeps its id, so it is never stored twice."
    >
      <AsyncView query={asked}>
        {({ events, meta }) => (
          <>
            <p class="hint">
              Free today: {meta.free_left.toLocaleString('en')} more rejected events. Further ones
              cost as much as other events.
            </p>
            <DataTable
              caption="Rejected events"
              prefix="rejected-"
              columns={columns}
              rows={events}
              keyOf={({ received_at, event_id, path }) => `${received_at} ${event_id} ${path}`}
              pageRows={pageRows}
              {...(mayRepair && { open: (event: RejectedEvent) => setResent(event) })}
              empty={<p>No event was rejected.</p>}
            />
          </>
        )}
      </AsyncView>
      {resent && (
        <ResendDialog rejected={resent} sent={asked.reload} close={() => setResent(null)} />
      )}
    </Section>
  )
}

const columns = [
  {
    name: 'received',
    label: 'Received',
    value: ({ received_at }: RejectedEvent) => received_at,
    show: ({ received_at }: RejectedEvent) => <Moment at={received_at} />,
  },
  {
    name: 'type',
    label: 'Type',
    value: ({ event_type }: RejectedEvent) =>
      event_type === null ? '' : labelOfValue('event_type', event_type),
  },
  {
    name: 'reason',
    label: 'Reason',
    value: (event: RejectedEvent) => faultText(event),
    show: (event: RejectedEvent) => (
      <span class="wraps" title={event.path}>
        {faultText(event)}
      </span>
    ),
  },
]
