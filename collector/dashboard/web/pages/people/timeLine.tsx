import { useState } from 'preact/hooks'
import { ApiError, api, messageOf } from '../../api.ts'
import { costOf, usePrices } from '../../components/prices.ts'
import { exactTime } from '../../components/time.ts'
import type { ViewQuery } from '../../view/view.ts'

const eventsMax = 200

interface TimeLineEvent {
  event_id: string
  timestamp: string
  event_type: string
  page_path: string | null
  session_id: string
}

/** Events of a browser by visit, the latest visit first; read after the user agreed to pay. */
export function TimeLine({
  projectId,
  cookieId,
  window: { start_ms, end_ms },
}: {
  projectId: string
  cookieId: string
  window: Pick<ViewQuery, 'start_ms' | 'end_ms'>
}) {
  const prices = usePrices()
  const [sessions, setSessions] = useState<TimeLineEvent[][] | null>(null)
  const [fault, setFault] = useState('')
  const read = async () => {
    try {
      const { rows } = await api.listEvents({
        project_id: projectId,
        filter: `cookie_id:eq:${cookieId}`,
        start_ms,
        end_ms,
        limit: eventsMax,
        select: 'event_id,timestamp,event_type,page_path,session_id',
      })
      setSessions(visitsOf(rows as unknown as TimeLineEvent[]))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setFault(messageOf(error))
    }
  }
  return (
    <section aria-labelledby="time-line">
      <h3 id="time-line">Visits</h3>
      {sessions === null && (
        <p>
          <button type="button" onClick={read}>
            Show the events of this browser
          </button>{' '}
          <span class="hint">
            {prices.value && `At most ${costOf(prices.value, 'events', eventsMax)}.`}
          </span>
        </p>
      )}
      {fault && (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
      {sessions?.length === 0 && <p>Nothing in this period.</p>}
      {sessions?.map((events) => (
        <details key={events[0]!.session_id} open={sessions[0] === events}>
          <summary>
            {exactTime(events[0]!.timestamp)}: {events.length}{' '}
            {events.length === 1 ? 'event' : 'events'}
          </summary>
          <ol class="trace">
            {events.map(({ event_id, timestamp, event_type, page_path }) => (
              <li key={event_id}>
                <span class="step">{event_type}</span>
                <div>
                  {page_path} <span class="meta">{exactTime(timestamp)}</span>
                </div>
              </li>
            ))}
          </ol>
        </details>
      ))}
    </section>
  )
}

/** Groups events, newest first, by visit: the latest visit first, in each the earliest event first. */
function visitsOf(rows: readonly TimeLineEvent[]): TimeLineEvent[][] {
  const visits = new Map<string, TimeLineEvent[]>()
  for (const row of rows) visits.set(row.session_id, [row, ...(visits.get(row.session_id) ?? [])])
  return [...visits.values()]
}
