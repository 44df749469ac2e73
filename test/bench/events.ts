import type { Demo } from '../../collector/ops/demo/demo.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { chrome } from '../harness/api.ts'
import type { Store } from './pages.ts'
import { send } from './recorded.ts'

/** What ClickHouse makes within a request's time. */
const rowsPerInsert = 2_000_000

export interface MadeEvents {
  rows: number
  newestMs: number
  /** Over which they are spread evenly, up to newestMs. */
  spanMs: number
  /** SQL: the number of the event's cookie, from the event's `number`. */
  cookie: string
  /** Default: events. */
  table?: string
}

/** The id of the cookie of that number. */
export const cookieSql = (number: string): string =>
  `reinterpretAsUUID(sipHash128(toUInt64(${number})))`

/** Merges a table's parts into as few as there can be, however long that takes. */
export async function optimize(
  { url, database }: Pick<Store, 'url' | 'database'>,
  table: string,
): Promise<void> {
  const { username, password, origin } = new URL(url)
  const credentials = Buffer.from(`${username}:${decodeURIComponent(password)}`).toString('base64')
  const address = new URL(`/?${new URLSearchParams({ database })}`, origin)
  await send(address, 'POST', { authorization: `Basic ${credentials}` }, [
    Buffer.from(`OPTIMIZE TABLE ${table} FINAL`),
  ])
}

/** Makes events of the demo project. */
export async function makeEvents(
  { url, database }: Pick<Store, 'url' | 'database'>,
  demo: Pick<Demo, 'organization_id' | 'project_id' | 'pixel_id'>,
  { rows, newestMs, spanMs, cookie, table = 'events' }: MadeEvents,
): Promise<void> {
  const clickhouse = openClickHouse(url, database)
  for (let from = 0; from < rows; from += rowsPerInsert) {
    await clickhouse.command({
      sql: `
      INSERT INTO ${table} (organization_id, project_id, pixel_id, event_id, event_type, ts_millis, event_data,
        cookie_id, user_agent, referrer_url, client_ip, page_url, page_host, page_path, browser, browser_version, os,
        os_version, device_type, is_bot, received_at, spool_id, seq)
      SELECT {organization:UUID}, {project:UUID}, {pixel:UUID}, generateUUIDv4(number),
        ['page_view', 'click', 'scroll_depth'][number % 3 + 1] AS type,
        {newest:Int64} - intDiv(number * {span:Int64}, {rows:Int64}) AS ts,
        concat('{"url":"https://shop.example/p/', toString(number % 500), '","title":"Pot ', toString(number % 500),
          '","referrer":null,"screen":{"height":1080,"width":1920},"viewport":{"height":947,"width":1903}}'),
        ${cookieSql(cookie)}, {userAgent:String}, NULL, '203.0.113.7',
        concat('https://shop.example/p/', toString(number % 500)), 'shop.example',
        concat('/p/', toString(number % 500)), 'Chrome', '140.0.0.0', 'Linux', NULL, 'desktop', false,
        fromUnixTimestamp64Milli(ts, 'UTC'), generateUUIDv4(), number
      FROM numbers({from:UInt64}, least({rowsPerInsert:UInt64}, {rows:UInt64} - {from:UInt64}))`,
      params: {
        organization: demo.organization_id,
        project: demo.project_id,
        pixel: demo.pixel_id,
        newest: newestMs,
        span: spanMs,
        rows,
        from,
        rowsPerInsert,
        userAgent: chrome,
      },
    })
  }
  await clickhouse.close()
  await optimize({ url, database }, table)
}
