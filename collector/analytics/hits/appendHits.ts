/**
 * The statement that appends rows to `hits`, by the rule of sessions (events/query/sessionSplit.ts). It reads new events
 * and, for each of their visitors, the newest hit before or among them. Only keys and numbers pass the windows; texts are
 * joined afterwards. Snowplow's dbt packages compute sessions in the same incremental way. The steps of its WITH:
 *
 * - last_hits: the newest hit of each visitor, which the first new event may continue.
 * - placed: the new events, with the time at which each takes part: a late one right after that hit.
 * - rested: their number within the visitor, and whether 30 minutes passed before.
 * - days, parts, numbered_parts: where a visit without a rest ends after a complete UTC day.
 * - origins: the campaign and referrer of each event, and whether they start a session.
 * - sessions, numbered: the number of the session, and of the event and the page in it. Session 0 is that of the last hit.
 * - first_events (firstEvents.ts): the source and other fields of each new session.
 */

import { firstEventFields } from '../../events/query/sessionFields.ts'
import { eventKey, isPageView } from '../../events/query/sessionOfHit.ts'
import { campaign, referrer, restMs } from '../../events/query/sessionSplit.ts'
import { dayMs } from '../../platform/days.ts'
import { firstEventSteps } from './firstEvents.ts'

/** The most events that one statement appends: 250,000 take 700 MB of memory. */
export const eventsMax = 250_000

/**
 * Returns the DELETE of hits that meet a condition. It reads only their granules, and writes which rows are deleted. The
 * default mode rewrites a column of each part with such a hit.
 */
export const deleteHitsSql = (condition: string): string =>
  `DELETE FROM hits WHERE ${condition} SETTINGS lightweight_delete_mode = 'lightweight_update'`

/** The columns that a hit has from its own event, with their SQL over rows of events. */
const ownColumns = {
  organization_id: 'organization_id',
  pixel_id: 'pixel_id',
  event_key: eventKey,
  event_type: 'event_type',
  event_name: "JSONExtract(event_data, 'name', 'Nullable(String)')",
  page_host: 'page_host',
  page_path: 'page_path',
  event_data: `if(JSONHas(event_data, 'properties'), concat('{"properties":', JSONExtractRaw(event_data, 'properties'), '}'), '')`,
  received_at: 'received_at',
} as const

interface Appended {
  /** Over rows of events: which are new. No hit of them exists. */
  readonly isNew: string
  /** Over rows of hits: those that may precede them, so none from before half an hour before the first. */
  readonly isBefore: string
}

/**
 * Returns the INSERT of hits for new events; readTransitHosts reads its parameter `transitHosts`. It marks events as late
 * that are older than the last hit of their visitor.
 * Their sessions and the following ones may have to change.
 */
export function appendHitsSql({ isNew, isBefore }: Appended): string {
  const visitor = 'project_id, cookie_id, is_bot'
  const own = Object.entries(ownColumns)
  const list = (items: readonly string[]) => items.join(',\n  ')
  const newEvents = `FROM events WHERE source = 'pixel' AND ${isNew}`
  const before = `FROM hits WHERE ${isBefore} AND (${visitor}) IN (SELECT ${visitor} ${newEvents})`
  return `INSERT INTO hits (project_id, cookie_id, is_bot, ts_millis, ${Object.keys(ownColumns).join(', ')},
  session_ms, session_event, session_page, session_gap_ms, visit_day, visit_campaign, visit_referrer, is_late,
  ${firstEventFields.map((name) => `session_${name}`).join(', ')})
WITH
-- The newest hit of each visitor.
last_hits AS (
  SELECT ${visitor}, argMax(tuple(ts_millis, ts_millis - session_ms, session_event, session_page, toUInt16(visit_day), visit_campaign, visit_referrer
    )::Tuple(ms Int64, start Int64, event UInt32, page UInt32, day UInt16, campaign UInt32, referrer UInt32), (ts_millis, session_event)) AS hit
  ${before}
  GROUP BY ${visitor}
),
-- An event that came late, within the session of the last hit or up to half an hour before without another origin,
-- follows the hit.
placed AS (
  SELECT ${visitor}, ts_millis, event_id, is_view, campaign, referrer, hit, hit.ms > ts_millis AS is_late,
    is_late AND ts_millis > hit.start - ${restMs} AND campaign IN (0, hit.campaign) AND referrer IN (0, hit.referrer) AS follows,
    if(follows, hit.ms, ts_millis) AS at
  FROM (
    SELECT ${visitor}, ts_millis, event_id, ${isPageView} AS is_view, ${campaign} AS campaign, ${referrer} AS referrer
    ${newEvents}
  ) AS new
  LEFT JOIN last_hits USING (${visitor})
),
-- Rests. Of the events of one millisecond, those with an origin come first.
rested AS (
  SELECT *, row_number() OVER w AS place, at - if(place = 1, hit.ms, lagInFrame(at) OVER w) AS gap,
    gap NOT BETWEEN 0 AND ${restMs - 1} AS is_rested, toUInt16(intDiv(at, ${dayMs})) AS day
  FROM placed
  WINDOW w AS (PARTITION BY ${visitor} ORDER BY at, ts_millis, campaign = 0 AND referrer = 0, campaign, referrer, event_id)
),
-- Complete UTC days without a rest.
days AS (
  SELECT *, sum(is_rested) OVER w > 0 AS has_rested, if(has_rested, max(if(is_rested, day, 0)) OVER w, hit.day) AS visit_day,
    greatest(day - visit_day - 1, 0) AS midnights
  FROM rested
  WINDOW w AS (PARTITION BY ${visitor} ORDER BY place ROWS UNBOUNDED PRECEDING)
),
parts AS (
  SELECT *, if(place = 1, greatest(intDiv(hit.ms, ${dayMs}) - hit.day - 1, 0), lagInFrame(midnights) OVER w) AS midnights_before,
    is_rested OR midnights > midnights_before AS is_part
  FROM days
  WINDOW w AS (PARTITION BY ${visitor} ORDER BY place)
),
numbered_parts AS (
  SELECT *, sum(is_part) OVER w AS part
  FROM parts
  WINDOW w AS (PARTITION BY ${visitor} ORDER BY place ROWS UNBOUNDED PRECEDING)
),
-- New origins: campaigns and referrers that differ from the last ones since the rest or midnight.
origins AS (
  SELECT *, ifNull(last_value(nullIf(campaign, 0)) IGNORE NULLS OVER w, if(part = 0, hit.campaign, 0)) AS campaign_before,
    ifNull(last_value(nullIf(referrer, 0)) IGNORE NULLS OVER w, if(part = 0, hit.referrer, 0)) AS referrer_before,
    is_part OR gap > 0 AND (campaign NOT IN (0, campaign_before) OR referrer NOT IN (0, referrer_before)) AS is_start
  FROM numbered_parts
  WINDOW w AS (PARTITION BY ${visitor}, part ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
),
sessions AS (
  SELECT *, sum(is_start) OVER w AS session
  FROM origins
  WINDOW w AS (PARTITION BY ${visitor} ORDER BY place ROWS UNBOUNDED PRECEDING)
),
numbered AS (
  SELECT ${visitor}, ts_millis, event_id, session > 0 AS is_new_session, if(session = 0, hit.start, first_value(ts_millis) OVER w) AS start,
    if(is_new_session, first_value(event_id) OVER w, toUUID('00000000-0000-0000-0000-000000000000')) AS first_event_id,
    hit.event * (session = 0) + row_number() OVER w AS session_event,
    hit.page * (session = 0) + sum(is_view) OVER w AS session_page,
    if(is_start OR session_page - is_view = 0, 0, gap) AS session_gap_ms,
    visit_day, if(campaign = 0, campaign_before, campaign) AS visit_campaign, if(referrer = 0, referrer_before, referrer) AS visit_referrer, is_late
  FROM sessions
  WINDOW w AS (PARTITION BY ${visitor}, session ORDER BY place ROWS UNBOUNDED PRECEDING)
),
${firstEventSteps(newEvents)}
SELECT ${visitor}, ts_millis, ${list(own.map(([name]) => `_${name}`))},
  ts_millis - numbered.start, session_event, session_page, session_gap_ms, toDate(visit_day), visit_campaign, visit_referrer, is_late,
  ${list(firstEventFields.map((name) => `if(is_new_session, first_events._${name}, of_hit.session_${name})`))}
FROM (SELECT ${visitor}, ts_millis, event_id, ${list(own.map(([name, sql]) => `${sql} AS _${name}`))} ${newEvents}) AS event
ANY INNER JOIN numbered USING (${visitor}, ts_millis, event_id)
ANY LEFT JOIN first_events USING (project_id, first_event_id)
ANY LEFT JOIN (SELECT ${visitor}, ts_millis - session_ms AS start, ${list(firstEventFields.map((name) => `session_${name}`))} ${before}) AS of_hit
  USING (${visitor}, start)`
}
