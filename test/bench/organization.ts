import { randomUUID } from 'node:crypto'
import { makeEvents } from './events.ts'
import { hourMs, pageRows, readStore } from './pages.ts'
import { send } from './recorded.ts'
import type { Bench, Row } from './rows.ts'
import { withService } from './service.ts'
import { interleave } from './stats.ts'

const days = 30
const pagesPerRepeat = 15

/** A page of an organization whose two projects have the same number of events ÷ the same page of one of them. */
export function organization({ repeats, sizes, log }: Bench): Promise<Row> {
  return withService(async (service) => {
    const store = readStore(service)
    const { organization_id, project_id, pixel_id, api_key, api_secret } = service.demo
    const newestMs = Date.now()
    const spanMs = days * 24 * hourMs
    log(`making ${2 * sizes.events} events`)
    for (const whose of [
      { organization_id, project_id, pixel_id },
      { organization_id, project_id: randomUUID(), pixel_id: randomUUID() },
    ])
      await makeEvents(store, whose, {
        rows: sizes.events,
        newestMs,
        spanMs,
        cookie: `cityHash64(number) % ${sizes.cookies}`,
      })
    const window = { start_ms: String(newestMs - spanMs), limit: String(pageRows) }
    let endMs = newestMs
    const page = async (scope: Record<string, string>) => {
      const query = new URLSearchParams({ ...window, ...scope, end_ms: String(endMs) })
      const address = new URL(`/api/v3/events/web_event?${query}`, service.url)
      return (await send(address, 'GET', { 'x-api-key': api_key, 'x-api-secret': api_secret })).ms
    }
    const { a, b, ratio } = await interleave(
      repeats * pagesPerRepeat,
      () => {
        // Both begin at the same place, another one each time.
        endMs -= 5 * hourMs
        return page({})
      },
      () => page({ project_id }),
    )
    return {
      what: `page of two projects of ${sizes.events} events each ÷ page of one, p50`,
      value: ratio.toFixed(2),
      target: '≤ 1.3',
      detail: `${a.toFixed(1)} ÷ ${b.toFixed(1)} ms, ${repeats * pagesPerRepeat} pairs of ${pageRows} events`,
    }
  })
}
