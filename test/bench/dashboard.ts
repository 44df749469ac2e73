import { ask } from '../harness/api.ts'
import { makeEvents } from './events.ts'
import { readStore } from './pages.ts'
import type { Bench, Row } from './rows.ts'
import { withService } from './service.ts'
import { percentile } from './stats.ts'

const dayMs = 86_400_000
const times = 20

/** What the dashboard's overview of thirty days asks, each alone and one after the other. */
const asked: Record<string, Record<string, string>> = {
  overview: {},
  timeseries: { interval: 'day' },
  breakdown: { dimensions: 'page_path,referrer_host,country,device_type,event_type,page_host', limit: '8' },
  live: {},
}

/** How long figures of thirty days take through the API, at as many events as --events says. */
export function dashboard({ sizes, log }: Bench): Promise<Row[]> {
  return withService(async (service) => {
    const newestMs = Date.now()
    log(`making ${sizes.events} events of ${sizes.cookies} visitors`)
    await makeEvents(readStore(service), service.demo, {
      ...{ rows: sizes.events, newestMs, spanMs: 30 * dayMs },
      cookie: `cityHash64(number) % ${sizes.cookies}`,
    })
    const { project_id } = service.demo
    const window = { start_ms: String(newestMs - 30 * dayMs), end_ms: String(newestMs) }
    const rows: Row[] = []
    for (const [path, query] of Object.entries(asked)) {
      const parameters = new URLSearchParams({ project_id, ...(path === 'live' ? {} : window), ...query })
      const taken: number[] = []
      for (let n = 0; n < times; n++) {
        const before = performance.now()
        const answer = await ask(service, `/api/v1/analytics/${path}?${parameters}`)
        if (!answer.ok) throw new Error(`the API answered ${answer.status} ${await answer.text()}`)
        await answer.arrayBuffer()
        taken.push(performance.now() - before)
      }
      rows.push({
        what: `analytics/${path}, 30 days, p95`,
        value: `${Math.round(percentile(taken, 95))} ms`,
        target: '300 ms at 10 million events',
        detail: `p50 ${Math.round(percentile(taken, 50))} ms, ${times} requests one after the other, ${sizes.events} events, ${sizes.cookies} visitors`,
      })
    }
    return rows
  })
}
