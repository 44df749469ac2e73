import { useState } from 'preact/hooks'
import { api, type RejectedEvent } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { DataTable } from '../../components/dataTable.tsx'
import { Moment } from '../../components/moment.tsx'
import { Section } from '../../components/page.tsx'
import { useQueryOf } from '../../useQuery.ts'
import { faultText } from '../../view/faultText.ts'
import { labelOfValue } from '../../view/labels.ts'
import { ResendDialog } from './resendDialog.tsx'

/** Rows of the table at first, and for each further click. */
const pageRows = 20
const loadedMax = 100

/**
 * The latest rejected events of a project with their reasons, which are free. An admin loads their content, and corrects
 * and resends one.
 */
export function RejectedEvents({
  projectId,
  mayRepair,
}: {
  projectId: string
  mayRepair: boolean
}) {
  const [hasContent, setHasContent] = useState(false)
  const asked = useQueryOf(hasContent ? 'content' : 'reasons', async () => {
    const { rejected_events, meta } = await api.listRejectedEvents({
      project_id: projectId,
      limit: loadedMax,
      content: hasContent,
    })
    // A refused beacon has no stored content that could be corrected.
    const events = rejected_events.filter(({ refusal }) => refusal === null)
    return { events, meta, areCorrectable: hasContent }
  })
  const [resent, setResent] = useState<RejectedEvent | null>(null)
  return (
    <Section
      title="Rejected events"
      lead="Events of the last 30 days that the collector could not store. A resent event keeps its id, so it is never stored twice."
    >
      <AsyncView query={asked}>
        {({ events, meta, areCorrectable }) => (
          <>
            {mayRepair && !hasContent && events.length > 0 && (
              <p class="hint">
                Content is free for {meta.free_left.toLocaleString('en')} more events today. Further
                ones cost as much as other events.{' '}
                <button type="button" class="link" onClick={() => setHasContent(true)}>
                  Load content to correct events
                </button>
              </p>
            )}
            <DataTable
              caption="Rejected events"
              prefix="rejected-"
              columns={columns}
              rows={events}
              keyOf={({ received_at, event_id, path }) => `${received_at} ${event_id} ${path}`}
              pageRows={pageRows}
              {...(areCorrectable && { open: (event: RejectedEvent) => setResent(event) })}
              empty={<p>No event was rejected.</p>}
            />
          </>
        )}
      </AsyncView>
      {resent && (
        <ResendDialog
          rejected={resent}
          sent={async () => setHasContent(false)}
          close={() => setResent(null)}
        />
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
