import { setTimeout as delay } from 'node:timers/promises'
import { descendantsOf, processorMs } from '../chaos/processes.ts'
import { ask } from '../harness/api.ts'
import type { Service } from '../harness/service.ts'
import { beaconText } from './beacons.ts'
import { load } from './load.ts'
import type { Bench, Row } from './rows.ts'
import { withService } from './service.ts'
import { median } from './stats.ts'

interface Measured {
  storedPerSecond: number
  /** Processor time of the service and its stores for an event. */
  microsPerEvent: number
}

/** Beacons with one event, from the first beacon until all are stored, with the fast reader ÷ without it. */
export const fastReader = (bench: Bench): Promise<Row[]> =>
  withService((off) =>
    withService((on) => compare(bench, on, off), { FOOTFALL_FAST_READER: 'true' }),
  )

async function compare(bench: Bench, on: Service, off: Service): Promise<Row[]> {
  const pairs: { on: Measured; off: Measured }[] = []
  for (const service of [on, off]) await measure(bench, service)
  for (let pair = 0; pair < bench.repeats; pair++) {
    // The order alternates, so that a slow change of the machine affects both alike.
    const order = pair % 2 === 0 ? (['on', 'off'] as const) : (['off', 'on'] as const)
    const measured = {} as { on: Measured; off: Measured }
    for (const side of order) {
      measured[side] = await measure(bench, side === 'on' ? on : off)
      bench.log(`${side}: ${Math.round(measured[side].storedPerSecond)} events/s`)
    }
    pairs.push(measured)
  }
  const rowOf = (what: string, key: keyof Measured, target: string): Row => {
    const ratios = pairs.map((pair) => pair.on[key] / pair.off[key])
    const [withReader, without] = (['on', 'off'] as const).map((side) =>
      median(pairs.map((pair) => pair[side][key])).toFixed(1),
    )
    const spread = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`
    return {
      what: `${what}, with the fast reader ÷ without`,
      value: median(ratios).toFixed(2),
      target,
      detail: `${withReader} ÷ ${without}; ${spread} in ${pairs.length} pairs`,
    }
  }
  return [
    rowOf('events stored a second', 'storedPerSecond', '≥ 1.10'),
    rowOf('processor time of an event, µs', 'microsPerEvent', '-'),
  ]
}

async function measure({ seconds, connections }: Bench, service: Service): Promise<Measured> {
  const pid = service.process.pid!
  const processorTime = () => processorMs([{ pid }, ...descendantsOf(pid)])
  const rowsBefore = await countRows(service)
  const msBefore = processorTime()
  const startedAt = performance.now()
  const body = beaconText(service.demo.pixel_id, 1)
  const { requests } = await load({ url: service.url, seconds, connections, body })
  while ((await countRows(service)) < rowsBefore + requests) await delay(100)
  return {
    storedPerSecond: (requests * 1_000) / (performance.now() - startedAt),
    microsPerEvent: ((processorTime() - msBefore) * 1_000) / requests,
  }
}

async function countRows(service: Service): Promise<number> {
  const answer = await ask(service, '/api/v3/events/web_event/counts')
  return ((await answer.json()) as { total: number }).total
}
