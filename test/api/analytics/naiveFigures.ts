import { projectId } from '../events/harness.ts'
import { isView, type Seen, type Session, sessionsOf } from './naiveSessions.ts'

/** Figures of sessions, by a naive look at every event of them. */

export type Query = Record<string, string | number | boolean>

/** Filters that select sessions, and their meaning. */
export const ofSessions: Record<string, (fields: Session['fields']) => boolean> = {
  'source:eq:Google': ({ source }) => source === 'Google',
  'source:ne:Google': ({ source }) => source !== 'Google',
  'source:eq:Direct': ({ source }) => source === 'Direct',
  'channel:in:Direct|Email': ({ channel }) => channel === 'Direct' || channel === 'Email',
  'channel:eq:Paid search': ({ channel }) => channel === 'Paid search',
  'utm_campaign:eq:may': ({ utm_campaign }) => utm_campaign === 'may',
  'utm_campaign:ne:may': ({ utm_campaign }) => utm_campaign !== 'may',
  'referrer_host:like:%google%': ({ referrer_host }) => referrer_host?.includes('google') ?? false,
  'entry_page:eq:/pricing': ({ entry_page }) => entry_page === '/pricing',
  'exit_page:ne:/docs': ({ exit_page }) => exit_page !== '/docs',
  'country:eq:DE': ({ country }) => country === 'DE',
  'device_type:eq:mobile': ({ device_type }) => device_type === 'mobile',
}
/** Filters that select events. */
export const ofEvents: Record<string, (event: Seen, session: Session) => boolean> = {
  'event_type:eq:page_view': isView,
  'page_path:eq:/thanks': ({ page_path }) => page_path === '/thanks',
  'page_path:ne:/docs': ({ page_path }) => page_path !== '/docs',
  'is_entry:eq:true': (event, { views }) => event === views[0],
  'is_entry:eq:false': (event, { views }) => event !== views[0],
  'event_data.n:eq:1': ({ event_data }) => event_data !== '{}',
}

/** The parameters of a request, and its filters by kind. */
export interface Asked {
  readonly startMs: number
  readonly endMs: number
  readonly pixel: string | null
  readonly bots: boolean
  readonly sessionFilters: readonly string[]
  readonly eventFilters: readonly string[]
}

/** The parameters of a request. */
export const queryOf = ({
  startMs,
  endMs,
  pixel,
  bots,
  sessionFilters,
  eventFilters,
}: Asked): Query => ({
  project_id: projectId,
  start_ms: startMs,
  end_ms: endMs,
  include_bots: bots,
  ...(pixel && { pixel_id: pixel }),
  ...(sessionFilters.length + eventFilters.length > 0 && {
    filter: [...sessionFilters, ...eventFilters].join(','),
  }),
})

/** A session with those of its events that a request is about. */
export interface Selected extends Session {
  /** The events that meet the filters. */
  readonly matching: readonly Seen[]
  /** Those of them in the window. */
  readonly selected: readonly Seen[]
  /** Whether the session starts in the window. */
  readonly isStarting: boolean
}

/** The sessions that a request is about, of these visitors' events. Bots have sessions of their own. */
export function select(
  visitors: readonly (readonly Seen[])[],
  { startMs, endMs, pixel, bots, sessionFilters, eventFilters }: Asked,
): Selected[] {
  const isIn = ({ ts_millis }: Seen) => ts_millis >= startMs && ts_millis < endMs
  return visitors
    .flatMap((visitor) =>
      (bots ? [false, true] : [false]).flatMap((isBot) =>
        sessionsOf(visitor.filter(({ is_bot }) => is_bot === isBot)),
      ),
    )
    .filter(({ fields }) => sessionFilters.every((filter) => ofSessions[filter]!(fields)))
    .map((session) => {
      const matching = session.events.filter(
        (event) =>
          (pixel === null || event.pixel_id === pixel) &&
          eventFilters.every((filter) => ofEvents[filter]!(event, session)),
      )
      const isStarting = isIn(session.events[0]!) && matching.length > 0
      return { ...session, matching, selected: matching.filter(isIn), isStarting }
    })
    .filter(({ selected, isStarting }) => selected.length > 0 || isStarting)
}

/** The sessions that figures of sessions count. */
export const starting = (sessions: readonly Selected[]) =>
  sessions.filter(({ isStarting }) => isStarting)

export const visitorsOf = (seen: readonly Seen[]) =>
  new Set(seen.map(({ cookie_id }) => cookie_id)).size
export const totals = (seen: readonly Seen[]) => ({
  events: seen.length,
  visitors: visitorsOf(seen),
  page_views: seen.filter(isView).length,
})
/** The events in the window, oldest first. */
export const selectedOf = (sessions: readonly Selected[]) =>
  sessions
    .flatMap(({ selected }) => selected)
    .toSorted((one, other) => one.ts_millis - other.ts_millis)

/** The figures of the sessions that start in the window. */
export function sessionTotals(sessions: readonly Selected[]) {
  const started = starting(sessions)
  const viewing = started.filter(({ views }) => views.length > 0)
  const bounced = viewing.filter(({ views }) => views.length === 1).length
  let [pages, pageMs] = [0, 0]
  for (const { events, views, matching } of viewing)
    for (const [index, view] of views.entries()) {
      if (!matching.includes(view)) continue
      pages++
      pageMs += (views[index + 1] ?? events.at(-1)!).ts_millis - view.ts_millis
    }
  return {
    sessions: started.length,
    bounce_rate: viewing.length === 0 ? null : bounced / viewing.length,
    time_on_page_ms: pages === 0 ? null : pageMs / pages,
  }
}

/** The overview of these sessions. */
export const overviewOf = (sessions: readonly Selected[]) => ({
  ...totals(selectedOf(sessions)),
  ...sessionTotals(sessions),
})
