import type { ComponentProps } from 'preact'
import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { ReadFault, useChargedRead } from '../../components/chargedRead.tsx'
import { Cost } from '../../components/cost.tsx'
import { Facts } from '../../components/facts.tsx'
import { FreeRecords } from '../../components/freeRecords.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { counted, duration, eventClock, eventTime, wholeNumber } from '../../format.ts'
import { setUrl } from '../../urlState.ts'
import { useQuery } from '../../useQuery.ts'
import { isMeasurement, storyOf, type ToldEvent } from '../../view/eventStory.ts'
import { labelOfValue } from '../../view/labels.ts'
import { nicknameOf } from '../../view/nickname.ts'
import type { ViewQuery } from '../../view/view.ts'
import { Country } from '../overview/icon.tsx'
import { type Origin, readSources } from './sessionSources.ts'

const eventsMax = 200
const select =
  'event_id,timestamp,event_type,page_path,page_host,event_data,session_id,referrer_host,utm_source,click_id_type,country,city,device_type,browser,os,language'

type Text = string | null
interface StoryEvent extends ToldEvent, Origin {
  event_id: string
  timestamp: string
  page_path: Text
  country: Text
  city: Text
  device_type: Text
  browser: Text
  os: Text
  language: Text
}

/** What one visitor did, session by session, as a story. */
export function VisitorStory({
  cookieId,
  query: { project_id, start_ms, end_ms },
}: {
  cookieId: string
  query: ViewQuery
}) {
  const [events, setEvents] = useState<StoryEvent[] | null>(null)
  const charged = { key: cookieId, meter: 'events', count: eventsMax, isRead: events !== null }
  const read = useChargedRead(charged, async () => {
    const { rows } = await api.listEvents({
      project_id,
      filter: `cookie_id:eq:${cookieId}`,
      start_ms,
      end_ms,
      limit: eventsMax,
      select,
    })
    setEvents(rows as unknown as StoryEvent[])
  })
  return (
    <>
      <p>
        <button type="button" class="link" onClick={() => setUrl({ visitor: '' })}>
          ← All visitors
        </button>
      </p>
      <h2>{nicknameOf(cookieId)}</h2>
      <p class="hint">
        The name stands for the browser with the id <code>{cookieId}</code>.
      </p>
      {read.mustAsk && (
        <Cost total={eventsMax} count={eventsMax} noun="event" action="Read up to" read={read} />
      )}
      {events === null && !read.mustAsk && read.fault === '' && <Skeleton lines={8} />}
      {events?.length === 0 && <p class="empty">This visitor has no events in the period.</p>}
      {events && events.length > 0 && (
        <>
          <Facts of={factsOf(events)} />
          {events.length === eventsMax && (
            <p class="hint">The latest {counted(eventsMax, 'event')} of the period.</p>
          )}
          <Sessions
            cookieId={cookieId}
            sessions={sessionsOf(events)}
            window={{ project_id, start_ms, end_ms }}
          />
        </>
      )}
      <ReadFault of={read} />
      <footer class="list-footer">
        <button
          type="button"
          onClick={() => setUrl({ tab: 'identity', cookie: cookieId, visitor: '' })}
        >
          Show who this is
        </button>
        <FreeRecords meter="events" />
      </footer>
    </>
  )
}

/** The sessions, whose sources the service names. */
function Sessions({
  cookieId,
  sessions,
  window,
}: {
  cookieId: string
  sessions: readonly StoryEvent[][]
  window: Pick<ViewQuery, 'project_id' | 'start_ms' | 'end_ms'>
}) {
  const sources = useQuery(() =>
    readSources(
      cookieId,
      sessions.map(([first]) => first!),
      window,
    ),
  )
  return sessions.map((session) => {
    const id = session[0]!.session_id
    return <Session key={id} events={session} source={sources.value?.get(id)} />
  })
}

/** One session: when, how long and where from, then each step. */
function Session({
  events,
  source,
}: {
  events: readonly StoryEvent[]
  /** Undefined until it is known. */
  source: string | undefined
}) {
  const [first, last] = [events[0]!, events.at(-1)!]
  const pages = events.filter(({ event_type }) => event_type === 'page_view').length
  const spent = Date.parse(last.timestamp) - Date.parse(first.timestamp)
  return (
    <section class="card session" aria-label={`Session of ${eventTime(first.timestamp)}`}>
      <h3>{eventTime(first.timestamp)}</h3>
      <p class="meta">
        {[counted(pages, 'page'), duration(spent), source].filter(Boolean).join(' · ')}
      </p>
      <ol class="story">
        {events.map((event) => {
          const { action, detail } = storyOf(event)
          return (
            <li key={event.event_id}>
              <strong>{action}</strong>
              {detail && <span>{detail}</span>}
              <time dateTime={event.timestamp} title={eventTime(event.timestamp)}>
                {eventClock(Date.parse(event.timestamp))}
              </time>
            </li>
          )
        })}
      </ol>
    </section>
  )
}

/** The place and the device of the latest event, and how much the visitor did. */
function factsOf(events: readonly StoryEvent[]): ComponentProps<typeof Facts>['of'] {
  const { country, city, device_type, browser, os, language } = events[0]!
  return {
    Country: country && <Country code={country} />,
    City: city,
    Device: device_type && labelOfValue('device_type', device_type),
    Browser: browser,
    'Operating system': os,
    Language: language,
    Sessions: wholeNumber(new Set(events.map(({ session_id }) => session_id)).size),
    Pages: wholeNumber(events.filter(({ event_type }) => event_type === 'page_view').length),
    'First event shown': eventTime(events.at(-1)!.timestamp),
    'Last seen': eventTime(events[0]!.timestamp),
  }
}

/** The latest session first; in each, the first event first. The events come newest first. */
function sessionsOf(events: readonly StoryEvent[]): StoryEvent[][] {
  const sessions = new Map<string, StoryEvent[]>()
  for (const event of events.filter((event) => !isMeasurement(event)))
    sessions.set(event.session_id, [event, ...(sessions.get(event.session_id) ?? [])])
  return [...sessions.values()]
}
