import { setTimeout as delay } from 'node:timers/promises'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import {
  findClickHouse,
  findPostgres,
  findWorkers,
  processorMs,
  treeProcessorMs,
} from '../chaos/processes.ts'
import type { Service } from '../harness/service.ts'
import { post, warmUp } from './ingest.ts'
import { readStore } from './pages.ts'
import type { Bench, Row } from './rows.ts'
import { untilQuiet, withService } from './service.ts'
import { median } from './stats.ts'

/** Processor time of each part, milliseconds; of an event, microseconds. */
interface Parts {
  workers: number
  primary: number
  clickhouse: number
  postgres: number
}

const names: Record<keyof Parts, string> = {
  workers: 'workers',
  primary: 'primary with the shipper',
  clickhouse: 'ClickHouse with merges',
  postgres: 'PostgreSQL',
}

const kinds = [
  { name: 'one-event beacons', events: 1, target: '≤ 40 µs' },
  { name: 'batches of 50', events: 50, target: '≤ 8 µs' },
]

/** How long nothing may be merged until merging counts as finished. */
const mergedMs = 4_000
const pollMs = 1_000
const idleMs = 20_000

/**
 * Measures the processor time of all processes for an event, at the highest load of this machine. A measurement begins
 * with the first beacon. It ends when all events are stored and ClickHouse has stopped merging. It subtracts the time
 * that idle processes take, and the row states it. It includes the requests that wait for the end, without the load.
 */
export const ingestCost = (bench: Bench): Promise<Row[]> =>
  withService(async (service) => {
    const { url, database } = readStore(service)
    const clickhouse = openClickHouse(url, database)
    const runs = kinds.map(() => [] as Parts[])
    const withIdle = kinds.map(() => [] as number[])
    const rates = kinds.map(() => [] as number[])
    for (const { events } of kinds) await warmUp(bench, service, [service.url], events, false)
    await untilMerged(clickhouse)
    const idle = await idleOf(service)
    bench.log(`idle: ${partsText(idle)} of processor time a second`)
    for (let round = 0; round < bench.repeats; round++)
      for (const [at, { name, events }] of kinds.entries()) {
        const [startedAt, before] = [performance.now(), partsOf(service)]
        const load = await post(bench, service, service.url, events, false)
        await untilQuiet(service)
        await untilMerged(clickhouse)
        const seconds = (performance.now() - startedAt) / 1_000
        const taken = difference(before, partsOf(service), 1)
        const toMicros = 1_000 / (load.requests * events)
        const perEvent = mapParts((part) => (taken[part] - idle[part] * seconds) * toMicros)
        runs[at]!.push(perEvent)
        withIdle[at]!.push(sumOf(taken) * toMicros)
        rates[at]!.push(load.requestsPerSecond * events)
        bench.log(`${name}: ${partsText(perEvent, 'µs')}`)
      }
    await clickhouse.close()
    return kinds.map(({ name, target }, at): Row => {
      const parts = mapParts((part) => median(runs[at]!.map((run) => run[part])))
      return {
        what: `processor time of an event, ${name}: all`,
        value: `${median(runs[at]!.map(sumOf)).toFixed(1)} µs`,
        target,
        detail: `${partsText(parts, 'µs')}; medians of ${bench.repeats} loads of ${bench.seconds} s with ${Math.round(median(rates[at]!))} events/s; with the time of idle processes ${median(withIdle[at]!).toFixed(1)} µs (a second: ${partsText(idle)})`,
      }
    })
  })

const partNames = Object.keys(names) as (keyof Parts)[]

const mapParts = (value: (part: keyof Parts) => number): Parts =>
  Object.fromEntries(partNames.map((part) => [part, value(part)])) as unknown as Parts

const sumOf = (parts: Parts): number => partNames.reduce((sum, part) => sum + parts[part], 0)

const partsText = (parts: Parts, unit = 'ms'): string =>
  partNames.map((part) => `${names[part]} ${parts[part].toFixed(1)} ${unit}`).join(', ')

const difference = (before: Parts, after: Parts, scale: number): Parts =>
  mapParts((part) => (after[part] - before[part]) * scale)

/** The processor time that each part has taken so far. */
function partsOf({ process: { pid } }: Service): Parts {
  return {
    workers: processorMs(findWorkers(pid!)),
    primary: processorMs([{ pid: pid! }]),
    clickhouse: treeProcessorMs(findClickHouse(pid!)!.pid),
    postgres: treeProcessorMs(findPostgres(pid!)!.pid),
  }
}

/** What each part takes in a second without events. */
async function idleOf(service: Service): Promise<Parts> {
  const before = partsOf(service)
  await delay(idleMs)
  return difference(before, partsOf(service), 1_000 / idleMs)
}

/** Waits until no part has changed and nothing was merged for a while. */
async function untilMerged(clickhouse: ClickHouse): Promise<void> {
  let state = ''
  for (let since = Date.now(); Date.now() - since < mergedMs; await delay(pollMs)) {
    const [row] = await clickhouse.rows<{ merging: number; parts: string[] }>({
      sql: `SELECT (SELECT count() FROM system.merges WHERE database = currentDatabase()) AS merging,
              arraySort(groupArray(name)) AS parts
            FROM system.parts WHERE database = currentDatabase() AND table = 'events' AND active`,
      params: {},
    })
    const now = row!.parts.join()
    if (row!.merging > 0 || now !== state) since = Date.now()
    state = now
  }
}
