import { makeEvents } from './events.ts'
import { hourMs, pageDirectly, pageRows, pageThroughApi, readStore } from './pages.ts'
import type { Bench, Row } from './rows.ts'
import { withService } from './service.ts'
import { median } from './stats.ts'

const rows = 1_000_000
const hours = 24
const pagesPerRepeat = 60
const warmUpPages = 20

/** A page of 1,000 events through the API ÷ the same SQL straight from ClickHouse over HTTP, p50. */
export function read({ repeats, log }: Bench): Promise<Row> {
  return withService(async (service) => {
    const store = readStore(service)
    const newestMs = Date.now()
    log(`making ${rows} events`)
    await makeEvents(store, service.demo, {
      rows,
      newestMs,
      spanMs: hours * hourMs,
      cookie: 'number % 50000',
    })

    const measured: { api: number; direct: number }[] = []
    for (let page = 0; page < warmUpPages + repeats * pagesPerRepeat; page++) {
      // Pages are spread over the day, the same for both sides. The first one alternates, because the second
      // finds the data in the page cache.
      const endMs = newestMs - ((page * 7919) % (hours - 2)) * hourMs
      const apiFirst = page % 2 === 0
      const before = apiFirst ? (await pageThroughApi(service, 'web_event', endMs)).ms : Number.NaN
      const direct = (await pageDirectly(store, service.demo, endMs)).ms
      const api = apiFirst ? before : (await pageThroughApi(service, 'web_event', endMs)).ms
      if (page >= warmUpPages) measured.push({ api, direct })
    }
    const api = median(measured.map((one) => one.api))
    const direct = median(measured.map((one) => one.direct))
    return {
      what: `page of ${pageRows} events ÷ same SQL from ClickHouse, p50`,
      value: (api / direct).toFixed(2),
      target: '≤ 1.15',
      detail: `${api.toFixed(1)} ÷ ${direct.toFixed(1)} ms, ${measured.length} pages of ${rows} events`,
    }
  })
}
