import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, api, messageOf } from '../../api.ts'
import { DataTable } from '../../components/dataTable.tsx'
import { Moment } from '../../components/moment.tsx'
import { costOf, usePrices } from '../../components/prices.ts'
import { setUrl } from '../../urlState.ts'
import { faultText } from '../../view/faultText.ts'

const pollMs = 1_000
/** Most rows on the page: the oldest are removed. */
const rowsMax = 200
/** How far back the stream begins, so that it is not empty. */
const backMs = 60_000

/** A line of the stream: an event that was stored, or one that was rejected. */
interface Line {
  key: string
  eventId: string | null
  at: string
  outcome: 'stored' | 'rejected' | 'refused'
  type: string
  what: string
}

interface Stream {
  lines: Line[]
  charged: number
  fault: string
}

const nothing: Stream = { lines: [], charged: 0, fault: '' }

const columns = [
  {
    name: 'at',
    label: 'Received',
    value: ({ at }: Line) => at,
    show: ({ at }: Line) => <Moment at={at} />,
  },
  {
    name: 'outcome',
    label: 'Outcome',
    value: ({ outcome }: Line) => outcome,
    show: ({ outcome }: Line) => (
      <span class={`badge ${outcome === 'stored' ? '' : 'bad'}`}>{outcome}</span>
    ),
  },
  { name: 'type', label: 'Type', value: ({ type }: Line) => type },
  { name: 'what', label: 'What', value: ({ what }: Line) => what },
]

/** Stored and rejected events as they arrive, the latest first. */
export function Live({ projectId }: { projectId: string }) {
  const [isRunning, setRunning] = useState(false)
  const [stream, setStream] = useState(nothing)
  const cursor = useRef<string | undefined>(undefined)
  const startedAt = useRef(0)

  useEffect(() => {
    if (!isRunning) return
    const ended = new AbortController()
    const { signal } = ended
    startedAt.current ||= Date.now() - backMs
    const poll = async () => {
      while (!signal.aborted) {
        // Events in a hidden tab are neither read nor charged.
        await untilSeen(signal)
        if (signal.aborted) return
        const [stored, rejected] = await Promise.all([
          readStored(projectId, startedAt.current, cursor.current, signal),
          readRejected(projectId, startedAt.current, signal),
        ])
        cursor.current = stored.cursor
        setStream((before) => merge(before, stored.lines, rejected, stored.charged))
        await new Promise((resolve) => setTimeout(resolve, pollMs))
      }
    }
    poll().catch((error: unknown) => {
      if (signal.aborted) return
      setRunning(false)
      const fault = error instanceof ApiError ? messageOf(error) : 'The stream was interrupted.'
      setStream((before) => ({ ...before, fault }))
    })
    return () => ended.abort()
  }, [isRunning, projectId])

  const { lines, charged, fault } = stream
  return (
    <>
      <div class="toolbar">
        <button
          type="button"
          class={isRunning ? '' : 'primary'}
          onClick={() => {
            setStream({ ...stream, fault: '' })
            setRunning(!isRunning)
          }}
        >
          {isRunning ? 'Pause' : lines.length > 0 ? 'Resume' : 'Start'}
        </button>
        <p class="hint" role="status">
          {isRunning
            ? `Live: ${lines.length} shown, ${charged} charged.`
            : `Paused. ${charged} charged.`}
        </p>
      </div>
      {fault && (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
      {lines.length === 0 ? (
        <NoLines isRunning={isRunning} />
      ) : (
        <DataTable
          caption="Live events"
          columns={columns}
          rows={lines}
          keyOf={({ key }) => key}
          open={({ eventId }) => eventId && setUrl({ event: eventId })}
        />
      )}
    </>
  )
}

function NoLines({ isRunning }: { isRunning: boolean }) {
  const prices = usePrices()
  return (
    <div class="empty">
      <h2>{isRunning ? 'Waiting for the first event' : 'See events as they arrive'}</h2>
      <p>
        Each stored event that is shown costs{' '}
        {prices.value ? costOf(prices.value, 'events', 1) : 'one record'}. Reasons of rejected
        events are free. The stream starts one minute ago. Open your site in another tab to see your
        own events.
      </p>
    </div>
  )
}

/** Waits until the tab of the page is visible. */
const untilSeen = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const look = () => {
      if (document.hidden && !signal.aborted) return
      document.removeEventListener('visibilitychange', look)
      resolve()
    }
    document.addEventListener('visibilitychange', look)
    signal.addEventListener('abort', look, { once: true })
    look()
  })

/** Adds new rows to the existing ones. */
function merge(before: Stream, stored: Line[], rejected: Line[], charged: number): Stream {
  const known = new Set(before.lines.map(({ key }) => key))
  const fresh = [...stored, ...rejected].filter(({ key }) => !known.has(key))
  if (fresh.length === 0) return before
  return {
    lines: [...before.lines, ...fresh]
      .sort((one, other) => other.at.localeCompare(one.at))
      .slice(0, rowsMax),
    charged: before.charged + charged,
    fault: '',
  }
}

async function readStored(
  projectId: string,
  fromMs: number,
  cursor: string | undefined,
  signal: AbortSignal,
) {
  const { rows, meta } = await api.listEvents(
    {
      project_id: projectId,
      select: 'event_id,event_type,received_at,page_url',
      order: 'received',
      limit: 100,
      ...(cursor === undefined ? { start_ms: fromMs } : { cursor }),
    },
    { signal },
  )
  const lines = (
    rows as Record<'event_id' | 'event_type' | 'received_at' | 'page_url', string>[]
  ).map(
    ({ event_id, event_type, received_at, page_url }): Line => ({
      key: event_id,
      eventId: event_id,
      at: received_at,
      outcome: 'stored',
      type: event_type,
      what: page_url,
    }),
  )
  return { lines, charged: meta.charged, cursor: meta.next_cursor ?? cursor }
}

async function readRejected(
  projectId: string,
  fromMs: number,
  signal: AbortSignal,
): Promise<Line[]> {
  const { rejected_events } = await api.listRejectedEvents(
    { project_id: projectId, limit: 100, content: false },
    { signal },
  )
  return rejected_events
    .filter(({ received_at }) => Date.parse(received_at) >= fromMs)
    .map(({ event_id, event_type, received_at, refusal, path, message }, index) => ({
      key: `${received_at} ${event_id ?? index} ${path}`,
      eventId: event_id,
      at: received_at,
      outcome: refusal ? 'refused' : 'rejected',
      type: event_type ?? '–',
      what: refusal ? `${refusal}: ${message}` : faultText({ path, message }),
    }))
}
