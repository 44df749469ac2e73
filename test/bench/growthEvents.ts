import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'

/** Rows of one insert, so that a request ends within its time. */
const rowsPerInsert = 1_000_000
const dayMs = 86_400_000

export interface GrowthEvents {
  organizationId: string
  projectId: string
  pixelId: string
  /** How many events, in the days before `newestMs`. */
  rows: number
  days: number
  newestMs: number
}

const eventsOfSession = 6

/** SQL: a number from 0 to below 1 that is the same for the same value; `salt` makes independent ones. */
const chance = (value: string, salt: string): string =>
  `(sipHash64(${value}, '${salt}') / 18446744073709551616.)`

/** SQL: a number below `count`. Small ones are common, as pages and visitors are. */
const skewed = (value: string, salt: string, count: number, power: number): string =>
  `toUInt32(pow(${chance(value, salt)}, ${power}) * ${count})`

const columns = `organization_id, project_id, pixel_id, event_id, event_type, ts_millis, event_data, cookie_id,
  user_agent, referrer_url, client_ip, page_url, page_host, page_path, browser, browser_version, os, os_version,
  device_type, is_bot, received_at, country, language, screen_width, viewport_width, spool_id, seq`

/**
 * Inserts events like those of a site, a million at a time, the newest last. A session has six events within minutes.
 * Few visitors come often, and many come once. Pages, sources, devices and countries are common or rare. Ids are those
 * that the collector derives from captured events.
 */
export async function insertGrowthEvents(
  clickhouse: ClickHouse,
  { organizationId, projectId, pixelId, rows, days, newestMs }: GrowthEvents,
  log: (line: string) => void,
): Promise<void> {
  for (let from = 0; from < rows; from += rowsPerInsert) {
    await clickhouse.command({
      sql: `INSERT INTO events (${columns})
        SELECT {organization:UUID}, {project:UUID}, {pixel:UUID}, event_id, event_type, ts_millis, event_data,
          cookie_id, user_agent, referrer_url, client_ip, page_url, page_host, page_path, browser, browser_version, os,
          os_version, device_type, false, fromUnixTimestamp64Milli(received, 'UTC'), country, language, screen_width,
          viewport_width, spool_id, number
        FROM (${rowsSql})`,
      params: {
        organization: organizationId,
        project: projectId,
        pixel: pixelId,
        from,
        count: Math.min(rowsPerInsert, rows - from),
        rows,
        oldest: newestMs - days * dayMs,
        span: days * dayMs,
        visitors: Math.max(1, Math.floor(rows / 15)),
      },
    })
    log(`${Math.min(rows, from + rowsPerInsert)} of ${rows} events`)
  }
}

/** SQL: the texts of a list by the position of a skewed number. */
const oneOf = (texts: readonly string[], value: string, salt: string): string =>
  `[${texts.map((text) => `'${text}'`).join(', ')}][1 + ${skewed(value, salt, texts.length, 2)}]`

const hosts = ['www.google.com', 't.co', 'duckduckgo.com', 'news.ycombinator.com', 'www.bing.com']
const sources = ['newsletter', 'google', 'facebook', 'partner', 'linkedin']
const browsers = ['Chrome', 'Safari', 'Firefox', 'Edge', 'Samsung Internet']
const systems = ['Windows', 'iOS', 'Android', 'macOS', 'Linux']
const countries = ['US', 'DE', 'GB', 'FR', 'NL', 'ES', 'PL', 'IT', 'SE', 'BR', 'IN', 'JP']
const languages = ['en-US', 'de-DE', 'en-GB', 'fr-FR', 'nl-NL', 'es-ES']

/** Where a session is in the window: evenly by day, and more by day than by night. */
const startSql = `toInt64({oldest:Int64} + intDiv(session * ${eventsOfSession}, greatest(1, intDiv({rows:UInt64}, 1000)))
  * intDiv({span:Int64}, 1001) + pow(${chance('session', 'time')}, 1.3) * intDiv({span:Int64}, 1001))`

const rowsSql = `
WITH intDiv(number, ${eventsOfSession}) AS session, number % ${eventsOfSession} AS step,
  ${skewed('session', 'visitor', 1, 2).replace('* 1)', '* {visitors:UInt64})')} AS visitor,
  ${skewed('tuple(session, step)', 'page', 2000, 4)} AS page,
  ${chance('number', 'type')} AS kind,
  multiIf(step = 0, 'page_view', kind < 0.46, 'page_view', kind < 0.7, 'click', kind < 0.88, 'scroll_depth',
    kind < 0.97, 'custom', 'copy') AS event_type,
  ${startSql} + step * 14000 + toInt64(${chance('number', 'step')} * 9000) AS ts_millis,
  step = 0 AND ${chance('session', 'campaign')} < 0.15 AS has_campaign,
  concat('/', ['products', 'blog', 'docs', 'pricing', 'help'][1 + page % 5], '/', lower(hex(sipHash64(page)))) AS page_path,
  'www.shop.example' AS page_host,
  concat('https://www.shop.example', page_path, if(has_campaign, concat('?utm_source=', ${oneOf(sources, 'session', 'source')},
    '&utm_medium=cpc&utm_campaign=autumn_', toString(session % 12)), '')) AS page_url,
  concat('Product ', toString(page), ' – a title of usual length – Shop') AS title,
  if(step = 0, if(${chance('session', 'direct')} < 0.45, NULL, concat('https://', ${oneOf(hosts, 'session', 'host')}, '/')),
    concat('https://www.shop.example/', ['products', 'blog'][1 + page % 2], '/', lower(hex(sipHash64(page + 1))))) AS page_referrer,
  [1920, 390, 1440, 412, 1366, 1536, 2560][1 + ${skewed('visitor', 'screen', 7, 1)}] AS width,
  fromUnixTimestamp64Milli(ts_millis, 'UTC') AS time,
  concat(formatDateTime(time, '%Y-%m-%dT%H:%i:%S'), '.', leftPad(toString(ts_millis % 1000), 3, '0'), 'Z') AS iso,
  ${oneOf(browsers, 'visitor', 'browser')} AS browser,
  toString(120 + ${skewed('visitor', 'version', 20, 2)}) AS version,
  sipHash64(number, 'bits') AS bits
SELECT number, event_type, ts_millis, page_path, page_host, page_url, browser,
  reinterpretAsUUID(sipHash128(visitor, 'cookie')) AS cookie_id,
  toUUID(concat(substring(hex_time, 1, 8), '-', substring(hex_time, 9, 4), '-8', substring(hex_bits, 1, 3), '-8',
    substring(hex_bits, 4, 3), '-', substring(hex_bits, 7, 7), '000', if(event_type = 'click', '02', '01'))) AS event_id,
  lower(leftPad(hex(toUInt64(ts_millis)), 12, '0')) AS hex_time, lower(leftPad(hex(bits), 16, '0')) AS hex_bits,
  concat('Mozilla/5.0 (', ${oneOf(systems, 'visitor', 'system')}, ' NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) ',
    browser, '/', version, '.0.0.0 Safari/537.36') AS user_agent,
  if(event_type = 'page_view', page_referrer, NULL) AS referrer_url,
  concat(toString(sipHash64(visitor, 'ip') % 223 + 1), '.', toString(sipHash64(visitor, 'ip2') % 256), '.',
    toString(sipHash64(visitor, 'ip3') % 256), '.0') AS client_ip,
  concat(version, '.0.0.0') AS browser_version, ${oneOf(systems, 'visitor', 'system')} AS os, '10' AS os_version,
  if(width < 500, 'mobile', 'desktop') AS device_type, ts_millis + toInt64(${chance('number', 'lag')} * 3000) AS received,
  ${oneOf(countries, 'visitor', 'country')} AS country, ${oneOf(languages, 'visitor', 'language')} AS language,
  if(event_type = 'page_view', width, NULL) AS screen_width, if(event_type = 'page_view', width - 15, NULL) AS viewport_width,
  reinterpretAsUUID(sipHash128(intDiv(number, 1000000), 'spool')) AS spool_id,
  multiIf(
    event_type = 'page_view', concat('{"url":"', page_url, '","title":"', title, '","referrer":',
      if(page_referrer IS NULL, 'null', concat('"', assumeNotNull(page_referrer), '"')), ',"screen":{"height":', toString(width - 300),
      ',"width":', toString(width), '},"viewport":{"height":', toString(width - 420), ',"width":', toString(width - 15), '},"timestamp":"', iso, '"}'),
    event_type = 'click', concat('{"url":"', page_url, '","element":{"tag":"a","id":null,"className":"button primary","ariaLabel":null,"href":"https://www.shop.example/cart"},"elementIdentifier":"main > section:nth-of-type(',
      toString(page % 7), ') > a.button","elementText":"Add to cart ', toString(page % 40), '","coordinates":{"x":', toString(bits % 1900), ',"y":', toString(bits % 1013), '},"timestamp":"', iso, '"}'),
    event_type = 'scroll_depth', concat('{"url":"', page_url, '","percentage":', toString(25 * (1 + bits % 4) + bits % 11), ',"threshold":', toString(25 * (1 + bits % 4)), ',"timestamp":"', iso, '"}'),
    event_type = 'copy', concat('{"url":"', page_url, '","text":"Product ', toString(page), ' in stock","textLength":', toString(20 + page % 9), ',"timestamp":"', iso, '"}'),
    concat('{"url":"', page_url, '","name":"', ['add_to_cart', 'signup', 'purchase'][1 + bits % 3], '","properties":{"sku":"POT-', toString(page), '","price":', toString(page % 97), '.5},"timestamp":"', iso, '"}')
  ) AS event_data
FROM numbers({from:UInt64}, {count:UInt64})`
