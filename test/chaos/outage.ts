import { setTimeout as delay } from 'node:timers/promises'
import type { Service } from '../harness/service.ts'
import { waitFor } from '../harness/service.ts'
import { countRows } from './audit.ts'
import { serviceRssMiB } from './processes.ts'
import { startProxy } from './proxy.ts'
import { type ScenarioOptions, type ScenarioResult, withLoad } from './scenario.ts'
import type { Sender } from './sender.ts'

export interface OutageOptions extends ScenarioOptions {
  outageMs: number
  /** Events a second, in beacons of 50. */
  rate: number
  /** Load before the outage, until memory is what it is under that load. */
  warmUpMs: number
}

export interface OutageResult extends ScenarioResult {
  /** Beacons that were answered with anything but 200, or not at all. */
  notAcknowledged: number
  /** Resident memory of all processes but the stores, MiB: before the outage, most during it, and the growth. */
  rssBeforeMiB: number
  rssMostMiB: number
  rssGrowthMiB: number
  /** Events that waited when ClickHouse was back, and how long until all were readable, input going on. */
  backlog: number
  catchUpMs: number
  /** Rate at which events became readable meanwhile, ÷ the input rate. */
  catchUpOverInput: number
}

const eventsPerBeacon = 50
const sampleMs = 500
const reportMs = 10_000
/** Behind by no more than the input of this time counts as caught up. */
const caughtUpMs = 1_500

/** Takes ClickHouse away under a steady load, brings it back, and measures memory and how fast it catches up. */
export async function runOutage(options: OutageOptions): Promise<OutageResult> {
  const { stores, rate, warmUpMs, outageMs, log } = options
  const proxy = await startProxy(stores.clickhouseUrl!)
  try {
    return await withLoad(
      {
        ...options,
        stores: { ...stores, clickhouseUrl: proxy.url },
        load: { rate, connections: 10, eventsPerBeacon },
      },
      async (service, sender) => {
        const before = await watchMemory('before the outage', service, sender, warmUpMs, log)
        const shippedBefore = (await countRows(service, sender)) ?? 0
        await proxy.refuse()
        const during = await watchMemory('ClickHouse away', service, sender, outageMs, log)
        const rssMostMiB = Math.max(...during)
        const rssBeforeMiB = before.at(-1)!
        await proxy.accept()
        const caughtUp = await catchUp(service, sender, rate, shippedBefore)
        log(`caught up in ${(caughtUp.catchUpMs / 1000).toFixed(1)} s`)
        const notAcknowledged = [...sender.answers].reduce(
          (sum, [answer, count]) => sum + (answer === '200' ? 0 : count),
          0,
        )
        return {
          notAcknowledged,
          rssBeforeMiB,
          rssMostMiB,
          rssGrowthMiB: rssMostMiB - rssBeforeMiB,
          ...caughtUp,
        }
      },
    )
  } finally {
    await proxy.refuse()
  }
}

/** Samples the service's memory for a while, MiB. */
async function watchMemory(
  what: string,
  service: Service,
  sender: Sender,
  forMs: number,
  log: (line: string) => void,
): Promise<number[]> {
  const samples: number[] = []
  const startedAt = Date.now()
  for (let reported = startedAt; Date.now() - startedAt < forMs; await delay(sampleMs)) {
    samples.push(serviceRssMiB(service.process.pid!))
    if (Date.now() - reported < reportMs) continue
    reported = Date.now()
    log(
      `${what}, ${Math.round((Date.now() - startedAt) / 1000)} s: ${samples.at(-1)!.toFixed(0)} MiB, ` +
        `${sender.acknowledged} acknowledged, ${JSON.stringify(Object.fromEntries(sender.answers))}`,
    )
  }
  return samples
}

async function catchUp(service: Service, sender: Sender, rate: number, shippedBefore: number) {
  const backAt = Date.now()
  const backlog = sender.acknowledged - shippedBefore
  const shipped = await waitFor(
    'the backlog to be readable',
    async () => {
      const total = (await countRows(service, sender)) ?? 0
      return sender.acknowledged - total <= (rate * caughtUpMs) / 1000 ? total : 0
    },
    600_000,
  )
  const catchUpMs = Date.now() - backAt
  return {
    backlog,
    catchUpMs,
    catchUpOverInput: (shipped - shippedBefore) / (catchUpMs / 1000) / rate,
  }
}
