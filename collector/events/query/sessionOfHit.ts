/** SQL over rows of `hits` (004_analytics.sql) that says which session an event is in, and where in it. */

/** The time of the session's first event, epoch milliseconds. */
export const sessionStart = 'ts_millis - session_ms'

/**
 * Returns the columns that tell sessions apart. In a request for one project its id is not among them, because ClickHouse
 * hashes keys of up to 32 bytes much faster.
 */
export const sessionKey = (projectId: string | null): string =>
  `${projectId === null ? 'project_id, ' : ''}cookie_id, is_bot, ${sessionStart}`

export const sessionId = `reinterpretAsUUID(sipHash128(${sessionKey(null)}))`

export const isPageView = "event_type = 'page_view'"

/** Whether the event is the first page view of its session. */
export const isEntry = `(${isPageView} AND session_page = 1)`

/** The key that, with project, visitor and time, names an event in hits; over rows of `events`. */
export const eventKey = 'toUInt32(cityHash64(event_id))'

/** At most this time is between the first and the last event of a session: two UTC days and a rest. */
export const sessionMaxMs = 2 * 86_400_000 + 30 * 60_000
