import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { addGoals, untilCounted } from './counted.ts'
import { optimize } from './events.ts'
import { type Read, send } from './growth.ts'
import { insertGrowthEvents } from './growthEvents.ts'
import { readStore } from './pages.ts'
import type { Bench, Row } from './rows.ts'
import { withService } from './service.ts'
import { type Interleaved, interleave } from './stats.ts'

const days = 30
const dayMs = 86_400_000
/** Pairs of requests of each read; one more, the first, is not counted. */
const pairs = 9

const steps = ['event_type:eq:page_view', 'event_type:eq:click', 'event_type:eq:custom']
const target = 'overview ≤ 300 ms, others ≤ 500 ms with 10 M in the window'

const reads: Record<string, Omit<Read, 'target'>> = {
  overview: { path: 'analytics/overview' },
  series: { path: 'analytics/timeseries', query: { interval: 'day' } },
  countries: { path: 'analytics/breakdown', query: { dimensions: 'country', limit: '8' } },
  pages: { path: 'analytics/breakdown', query: { dimensions: 'page_path', limit: '8' } },
  goals: { path: 'analytics/conversions' },
  funnel: { path: 'analytics/funnel', body: { steps } },
}

/** Filters on sessions, and one on events that a similar share of events meets. */
const sessionFilters = { source: 'source:eq:Google', country: 'country:eq:DE' }
const eventFilter = 'event_type:eq:click'

/**
 * Measures by what factor a filter on sessions takes longer than one on events. Requests with either alternate, so that
 * the load of the machine affects both.
 */
export function sessionFiltersRow({ sizes, log }: Bench): Promise<Row[]> {
  return withService(async (service) => {
    const { url, database } = readStore(service)
    const clickhouse = openClickHouse(url, database)
    // Complete days, which are counted.
    const newestMs = Math.floor(Date.now() / dayMs) * dayMs
    const { organization_id, project_id, pixel_id } = service.demo
    await clickhouse.command({ sql: 'TRUNCATE TABLE events', params: {} })
    await insertGrowthEvents(
      clickhouse,
      {
        organizationId: organization_id,
        projectId: project_id,
        pixelId: pixel_id,
        rows: sizes.events,
        days,
        newestMs,
      },
      log,
    )
    await optimize({ url, database }, 'events')
    await untilCounted(clickhouse, project_id, days)
    await clickhouse.close()
    await addGoals(service, [{ name: 'Custom event', filter: 'event_type:eq:custom' }])
    const rows: Row[] = []
    for (const [name, read] of Object.entries(reads))
      for (const [field, filter] of Object.entries(sessionFilters)) {
        const ask = (filter: string) => () => msOf(read, filter)
        await interleave(1, ask(filter), ask(eventFilter))
        const measured = await interleave(pairs, ask(filter), ask(eventFilter))
        rows.push(rowOf(`${name} by ${field}`, sizes.events, measured))
        log(`${rows.at(-1)!.what}: ${rows.at(-1)!.value}`)
      }
    return rows

    async function msOf(read: Omit<Read, 'target'>, filter: string): Promise<number> {
      const asked: Read = read.body
        ? { ...read, body: { ...read.body, filter }, target }
        : { ...read, query: { ...read.query, filter }, target }
      const startedAt = performance.now()
      const answer = await send(service, asked, newestMs, days)
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${read.path} answered ${answer.status} ${text}`)
      return performance.now() - startedAt
    }
  })
}

function rowOf(name: string, events: number, { a, b, ratio, ratios }: Interleaved): Row {
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)]
  return {
    what: `${events / 1_000_000} M events: ${name}, session filter ÷ event filter`,
    value: ratio.toFixed(1),
    target,
    detail: `medians ${Math.round(a)} and ${Math.round(b)} ms, ${pairs} pairs from ${least.toFixed(1)} to ${most.toFixed(1)}`,
  }
}
