import { availableParallelism } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { processorMs, serviceProcesses } from '../chaos/processes.ts'
import { ask } from '../harness/api.ts'
import type { Cluster } from '../harness/cluster.ts'
import type { Service } from '../harness/service.ts'
import { beaconText } from './beacons.ts'
import { withTwoCollectors } from './clusters.ts'
import { load } from './load.ts'
import type { Bench, Row } from './rows.ts'
import { interleave } from './stats.ts'

const eventsPerBeacon = 50
const beaconsPerSecond = 100
const connections = 8

/** The row by itself. */
export const collectors = (bench: Bench): Promise<Row> =>
  withTwoCollectors(bench.log, (cluster) => measureSecond(cluster, bench))

/**
 * The cost of a second collector. It is the processor time of a collector's processes for each event,
 * accepting and shipping both, with the other at the same work ÷ alone. With one core for each, two do twice
 * as much as one, minus this. Cores for all of them, the stores and the load exceed many machines.
 */
export async function measureSecond(
  { api, collectors, pixelIds }: Cluster,
  { repeats, seconds, log }: Bench,
): Promise<Row> {
  const microsPerEvent = async (busy: readonly Service[]): Promise<number> => {
    const before = busy.map(processorTime)
    const loads = await Promise.all(
      busy.map(({ url }) =>
        load({
          url,
          seconds,
          connections,
          rate: beaconsPerSecond,
          body: beaconText(pixelIds[0]!, eventsPerBeacon),
        }),
      ),
    )
    await untilStored(api)
    const events = sum(loads.map(({ requests }) => requests)) * eventsPerBeacon
    const micros = ((sum(busy.map(processorTime)) - sum(before)) * 1_000) / events
    log(`${busy.length} at work: ${micros.toFixed(1)} µs an event`)
    return micros
  }
  await microsPerEvent(collectors)
  const { a, b, ratio, ratios } = await interleave(
    repeats,
    () => microsPerEvent(collectors.slice(0, 2)),
    () => microsPerEvent(collectors.slice(0, 1)),
  )
  return {
    what: 'ingest of two collectors ÷ one, by their processor time',
    value: (2 / ratio).toFixed(2),
    target: '≥ 1.8 on a core each',
    detail: `${a.toFixed(1)} ÷ ${b.toFixed(1)} µs an event, ${(2 / Math.max(...ratios)).toFixed(2)} to ${(2 / Math.min(...ratios)).toFixed(2)} in ${ratios.length} pairs, ${beaconsPerSecond * eventsPerBeacon} events/s each; of ${availableParallelism()} cores none could be kept for one`,
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

const processorTime = ({ process }: Service): number => processorMs(serviceProcesses(process.pid!))

/** Waits until all that any collector accepted by now is stored. */
async function untilStored(api: Service): Promise<void> {
  const now = Date.now()
  for (;;) {
    const answer = await ask(api, '/api/v3/events/web_event?limit=1')
    const { meta } = (await answer.json()) as { meta?: { complete_until: string } }
    if (meta && Date.parse(meta.complete_until) > now) return
    await delay(100)
  }
}
