import { useState } from 'preact/hooks'
import { ApiError, api, messageOf } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { CodeSamples } from '../../components/codeSamples.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { JsonTree, parsedJson } from '../../components/jsonTree.tsx'
import { costOf, usePrices } from '../../components/prices.ts'
import { useQuery } from '../../useQuery.ts'
import { type EventRow, readRows } from './eventRow.ts'
import { FieldFacts } from './fieldFacts.tsx'
import { Trace } from './trace.tsx'

/** One event: its trace, its content, and the API call for it. */
export function EventDetails({
  projectId,
  eventId,
  close,
}: {
  projectId: string
  eventId: string
  close(): void
}) {
  const trace = useQuery(() => api.traceEvent({ project_id: projectId, event_id: eventId }))
  return (
    <Dialog title="Event" close={close} class="side-dialog">
      <p class="meta">
        <code>{eventId}</code>
      </p>
      <section aria-labelledby="what-happened">
        <h3 id="what-happened">History</h3>
        <AsyncView query={trace}>
          {(found) => (
            <>
              <Trace trace={found} />
              {found.outcome === 'stored' && <Stored projectId={projectId} eventId={eventId} />}
              {found.outcome === 'rejected' && <Rejected projectId={projectId} eventId={eventId} />}
            </>
          )}
        </AsyncView>
      </section>
      <div class="actions">
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  )
}

/** The content of a stored event: read once, and charged as one read. */
function Stored({ projectId, eventId }: { projectId: string; eventId: string }) {
  const prices = usePrices()
  const isWhole = (row: EventRow | undefined) => row !== undefined && 'event_data' in row
  const [row, setRow] = useState(readRows.get(eventId))
  const [fault, setFault] = useState('')
  const params = { project_id: projectId, filter: `event_id:eq:${eventId}`, start_ms: 0, limit: 1 }
  const read = async () => {
    try {
      const { rows } = await api.listEvents(params)
      const [found] = rows as EventRow[]
      if (!found) return setFault('It was deleted.')
      readRows.set(eventId, found)
      setRow(found)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setFault(messageOf(error))
    }
  }
  const { event_data, ...fields } = row ?? ({} as EventRow)
  return (
    <>
      {row && (
        <section aria-labelledby="fields">
          <h3 id="fields">Fields</h3>
          <FieldFacts row={fields} />
        </section>
      )}
      {isWhole(row) ? (
        <section aria-labelledby="payload">
          <h3 id="payload">Payload</h3>
          <JsonTree value={parsedJson(String(event_data))} />
        </section>
      ) : (
        <p>
          <button type="button" onClick={read}>
            Read the complete event
          </button>{' '}
          <span class="hint">{prices.value && costOf(prices.value, 'events', 1)}</span>
        </p>
      )}
      {fault && (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
      <section aria-labelledby="code">
        <h3 id="code">Request it in code</h3>
        <CodeSamples set="event-code" call={{ operation: 'listEvents', params }} />
      </section>
    </>
  )
}

/** The stored part of a rejected event. */
function Rejected({ projectId, eventId }: { projectId: string; eventId: string }) {
  const kept = useQuery(async () => {
    const { rejected_events } = await api.listRejectedEvents({
      project_id: projectId,
      event_id: eventId,
      limit: 1,
    })
    return rejected_events[0] ?? null
  })
  return (
    <AsyncView query={kept}>
      {(rejected) =>
        rejected && (
          <section aria-labelledby="sent">
            <h3 id="sent">As sent</h3>
            <JsonTree value={parsedJson(rejected.event)} />
          </section>
        )
      }
    </AsyncView>
  )
}
