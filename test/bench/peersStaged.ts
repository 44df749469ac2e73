import type { Store } from './pages.ts'
import { createDatabase, type Database, runSql } from './peer.ts'

/** Visitors are read in as many parts, so that sorting them needs little memory. */
const parts = 16
/** Every product ends a session half an hour after its last event. */
const sessionMs = 1_800_000

const database = 'peers_staged'

/** The table that products fill their tables from. */
export const staged = `${database}.events`

const columns = `
  event_id UUID, visitor UInt64, session UInt64, at DateTime64(3, 'UTC'), event_type LowCardinality(String),
  host String, path String, query String, title String, referrer String, name LowCardinality(String), properties String,
  scroll UInt8, browser LowCardinality(String), browser_version LowCardinality(String), os LowCardinality(String),
  os_version LowCardinality(String), device LowCardinality(String), country LowCardinality(String),
  language LowCardinality(String), width UInt16, ip String, landing_referrer String, landing_query String`

/** Opens the table; `stage` replaces what it has by our events since a time, in epoch milliseconds. */
export async function openStaged({ url, database: ours }: Store): Promise<{
  stage(sinceMs: number): Promise<void>
}> {
  const store: Database = { url, name: database }
  await createDatabase(store, [`CREATE TABLE events (${columns}) ENGINE = MergeTree ORDER BY at`])
  return {
    async stage(sinceMs) {
      await runSql(store, 'TRUNCATE TABLE events')
      for (let part = 0; part < parts; part++)
        await runSql(store, `INSERT INTO events ${stagedSql(ours, sinceMs, part)}`)
    },
  }
}

/**
 * Our events with the sessions that the products make from them: a visitor's events with pauses of at most
 * half an hour. A visitor is a cookie. Referrers of the site itself are left out, as the products do.
 */
const stagedSql = (ours: string, sinceMs: number, part: number): string => `
SELECT event_id, visitor, cityHash64(visitor, first_value(ts_millis) OVER of_session) AS session,
  fromUnixTimestamp64Milli(ts_millis, 'UTC'), event_type, host, path, query, title, referrer, name, properties, scroll,
  browser, browser_version, os, os_version, device_type, country, language, width, ip,
  first_value(referrer) OVER of_session, first_value(query) OVER of_session
FROM (
  SELECT *, sum(begins) OVER (PARTITION BY visitor ORDER BY ts_millis, event_id) AS nth
  FROM (
    SELECT event_id, cityHash64(cookie_id) AS visitor, ts_millis, toString(event_type) AS event_type,
      ifNull(page_host, '') AS host, ifNull(page_path, '') AS path, queryString(ifNull(page_url, '')) AS query,
      JSONExtractString(event_data, 'title') AS title,
      if(domain(ifNull(referrer_url, '')) = host, '', ifNull(referrer_url, '')) AS referrer,
      JSONExtractString(event_data, 'name') AS name, JSONExtractRaw(event_data, 'properties') AS properties,
      toUInt8(JSONExtractUInt(event_data, 'percentage')) AS scroll, ifNull(browser, '') AS browser,
      ifNull(browser_version, '') AS browser_version, ifNull(os, '') AS os, ifNull(os_version, '') AS os_version,
      ifNull(device_type, '') AS device_type, ifNull(country, '') AS country, ifNull(language, '') AS language,
      ifNull(screen_width, 0) AS width, toString(client_ip) AS ip,
      ts_millis - lagInFrame(ts_millis, 1, 0) OVER (PARTITION BY visitor ORDER BY ts_millis, event_id
        ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) > ${sessionMs} AS begins
    FROM ${ours}.events
    WHERE ts_millis >= ${sinceMs} AND cityHash64(cookie_id) % ${parts} = ${part}
  )
)
WINDOW of_session AS (PARTITION BY visitor, nth ORDER BY ts_millis, event_id)`
