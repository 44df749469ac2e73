import { eventsQuery } from '../../collector/events/query/page/eventsQuery.ts'
import {
  EventsQuery,
  parseEventsRequest,
} from '../../collector/events/query/page/parseEventsRequest.ts'
import { checkedQuery } from '../harness/checkedQuery.ts'
import { makeEvents } from './events.ts'
import { hourMs, readStore } from './pages.ts'
import { drainPage, drainRecorded, record } from './recorded.ts'
import type { Bench, Row } from './rows.ts'
import { withService } from './service.ts'
import { interleave } from './stats.ts'

const days = 30
/** The advice of the documents. */
const pageRows = 10_000

/**
 * All events of a project by cursor ÷ ClickHouse writing the same rows in the same order at once.
 */
export function cursor({ repeats, sizes, log }: Bench): Promise<Row[]> {
  return withService(async (service) => {
    const store = readStore(service)
    const { organization_id, project_id, api_key, api_secret } = service.demo
    const newestMs = Date.now()
    const spanMs = days * 24 * hourMs
    log(`making ${sizes.events} events`)
    await makeEvents(store, service.demo, {
      rows: sizes.events,
      newestMs,
      spanMs,
      cookie: `cityHash64(number) % ${sizes.cookies}`,
    })
    const query = { project_id, start_ms: String(newestMs - spanMs), end_ms: String(newestMs + 1) }

    const byCursor = async (): Promise<Whole> => {
      const whole = { rows: 0, bytes: 0 }
      for (let next: Record<string, string> | null = {}; next; ) {
        const asked = new URLSearchParams({ ...query, ...next, limit: String(pageRows) })
        const address = new URL(`/api/v3/events/web_event?${asked}`, service.url)
        const { bytes, meta } = await drainPage(address, {
          'x-api-key': api_key,
          'x-api-secret': api_secret,
        })
        const { records, charged, next_cursor: cursor } = meta
        if (charged !== records) throw new Error(`of ${records} rows ${charged} are charged`)
        whole.rows += records
        whole.bytes += bytes
        next = cursor === undefined ? null : { cursor }
      }
      return whole
    }

    const asked = { query: checkedQuery(EventsQuery, query) }
    const { plan } = parseEventsRequest(asked, 'web_event', newestMs, JSON.parse)
    const scope = {
      organizationId: organization_id,
      projectId: project_id,
      pixelId: null,
      campaignId: null,
    }
    const request = await record(store.url, store.database, (clickhouse) =>
      clickhouse.stream(eventsQuery({ ...plan, scope, limit: sizes.events }), 'JSONEachRow'),
    )
    const directly = async (): Promise<Whole> => {
      // As ClickHouse writes by itself: not kept until all is there.
      const { bytes } = await drainRecorded(store.url, request, { wait_end_of_query: '0' })
      return { rows: sizes.events, bytes }
    }

    const direct = await directly()
    const whole = await byCursor()
    if (whole.rows !== sizes.events || Math.abs(whole.bytes / direct.bytes - 1) > 0.001)
      throw new Error(
        `${whole.rows} rows of ${whole.bytes} bytes, of ClickHouse ${direct.bytes} bytes`,
      )
    const { a, b, ratio } = await interleave(repeats, secondsOf(byCursor), secondsOf(directly))
    return [
      {
        what: `${sizes.events} events by cursor, pages of ${pageRows} ÷ ClickHouse writing them, p50`,
        value: ratio.toFixed(2),
        target: '',
        detail: `${a.toFixed(2)} ÷ ${b.toFixed(2)} s, ${(direct.bytes / 1e6).toFixed(0)} MB of JSON, ${repeats} pairs`,
      },
    ]
  })
}

interface Whole {
  rows: number
  bytes: number
}

const secondsOf = (read: () => Promise<unknown>) => async () => {
  const startedAt = performance.now()
  await read()
  return (performance.now() - startedAt) / 1_000
}
