/**
 * The rule of sessions, in SQL. A visitor is a browser (cookie_id) in a project. Their events of all pixels of the
 * project are in one session until one of these:
 * - 30 minutes (restMs) pass without an event.
 * - An event has a campaign, or an outside referrer, that differs from the last one since that rest. Events of one
 *   millisecond stay together.
 * - The visit without a rest has lasted a complete UTC day. It ends at the end of that day, and so does every further
 *   day of it. Without this bound a session without a rest could be endless.
 *
 * The session of an event therefore depends on the visitor's events back to the midnight that begins the day before,
 * and 30 minutes more (lookBackFrom). A rest since that midnight is visible. Without one, the beginning of the visit
 * does not matter, and the last campaign and referrer are those since the last of these midnights.
 */

import { transit } from './trafficSources.ts'

export const restMs = 30 * 60_000
const dayMs = 86_400_000

/**
 * Returns SQL of the time from which events must be read to determine the sessions of events from `fromMs`
 * (SQL) on.
 */
export const lookBackFrom = (fromMs: string): string =>
  `intDiv(${fromMs}, ${dayMs}) * ${dayMs} - ${dayMs + restMs}`

/** SQL over rows of events: the referrer's host, if its site differs from the page's; otherwise null. */
export const outsideReferrer = `if(isNull(referrer_host) OR referrer_host = page_host
  OR cutToFirstSignificantSubdomain(assumeNotNull(referrer_host)) != ''
    AND cutToFirstSignificantSubdomain(assumeNotNull(referrer_host)) = cutToFirstSignificantSubdomain(ifNull(page_host, '')), NULL, referrer_host)`

const campaignColumns = ['utm_source', 'utm_medium', 'utm_campaign', 'click_id_type']

/** SQL over rows of events: the number of the campaign, 0 without. */
export const campaign = `if(coalesce(${campaignColumns.join(', ')}) IS NULL, 0,
  toUInt32(bitOr(cityHash64(${campaignColumns.map((name) => `ifNull(${name}, '')`).join(', ')}), 1)))`
const quoted = (texts: readonly string[]) => texts.map((text) => `'${text}'`).join(', ')

/** SQL over rows of events: the number of the outside referrer, 0 without, and for pages of a sign-in or a payment. */
export const referrer = `if(isNull(${outsideReferrer} AS _outside)
  OR assumeNotNull(_outside) IN (${quoted(transit.hosts)})
  OR cutToFirstSignificantSubdomain(assumeNotNull(_outside)) IN (${quoted(transit.domains)}), 0, toUInt32(bitOr(cityHash64(assumeNotNull(_outside)), 1)))`

/**
 * Returns SQL of an event in sessions. It is a tuple of its time, whether it has neither campaign nor outside
 * referrer, the numbers of both, and `more`. This is also the order of events.
 */
const sessionEvent = (more: readonly string[]): string =>
  `(ts_millis, toUInt8((${campaign} AS _campaign) = 0 AND (${referrer} AS _referrer) = 0), _campaign, _referrer, ${more.join(', ')})`

/** SQL: the n-th of the `more` columns of an event (SQL), from 1. */
export const moreOf = (event: string, place: number): string => `${event}.${place + 4}`

/** SQL: the time of an event (SQL) in epoch milliseconds. */
export const millisOf = (event: string): string => `${event}.1`

/** SQL that collects the events of a visitor. */
export interface CollectedEvents {
  /** SQL of aliases. */
  readonly declared: readonly string[]
  /** SQL of the array of events, in order, each with the members of sessionEvent. */
  readonly sql: string
  /** SQL conditions of visitors. */
  readonly having: readonly string[]
}

/** Collects events with these columns of sessionEvent. */
export const eventsWith = (more: readonly string[]): CollectedEvents => ({
  declared: [],
  sql: `arraySort(groupArray(${sessionEvent(more)}))`,
  having: [],
})

/**
 * SQL of sessions: `_project_id`, `_cookie_id` and `_session`, its events in order. It stands after SELECT columns FROM.
 * It collects each visitor's events in an array, which is faster than window functions.
 *
 * From the inside out: rests split the events of each visitor into `_unrested`. Midnights, new campaigns and new
 * referrers split these into `_session`.
 */
export const splitSessions = (
  events: string,
  conditions: readonly string[],
  { declared, sql, having }: CollectedEvents,
): string => `(
SELECT _project_id, _cookie_id, _unrested,
  arrayDifference(arrayMap(ms -> greatest(intDiv(ms, ${dayMs}) - intDiv(_unrested[1].1, ${dayMs}) - 1, 0), _unrested.1)) AS _midnights,
  arrayDifference(arrayFill((number, midnight) -> number != 0 OR midnight > 0, _unrested.3, _midnights)) AS _campaigns,
  arrayDifference(arrayFill((number, midnight) -> number != 0 OR midnight > 0, _unrested.4, _midnights)) AS _referrers
FROM (
${declared.length > 0 ? `WITH ${declared.join(', ')} ` : ''}SELECT project_id AS _project_id, cookie_id AS _cookie_id, ${sql} AS _events
FROM ${events}
WHERE ${conditions.join('\n  AND ')}
GROUP BY project_id, cookie_id${having.length > 0 ? `\nHAVING ${having.join(' AND ')}` : ''}
)
ARRAY JOIN arraySplit((_, rest) -> rest >= ${restMs}, _events, arrayDifference(_events.1)) AS _unrested
)
ARRAY JOIN arraySplit((_, midnight, campaign, referrer, step) -> midnight > 0 OR step > 0 AND (campaign != 0 OR referrer != 0),
  _unrested, _midnights, _campaigns, _referrers, arrayDifference(_unrested.1)) AS _session`
