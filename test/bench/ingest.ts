import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { packageRoot } from '../../collector/platform/paths.ts'
import type { BeaconReceipt } from '../../schemas/beacon.ts'
import { postBeacon } from '../harness/api.ts'
import { newEventId } from '../harness/eventId.ts'
import type { Service } from '../harness/service.ts'
import { beaconText, idPlaceholder } from './beacons.ts'
import { measuredCore, otherCore, pin, pinningRefusal, pinService } from './cores.ts'
import { type LoadResult, load } from './load.ts'
import type { Bench, Row } from './rows.ts'
import { untilQuiet, withService } from './service.ts'
import { longestStallMs, type Watched, watchStalls, workerOf } from './stalls.ts'
import { interleave, median } from './stats.ts'

/** A beacon with one event, durable acknowledgement ÷ floor; one process each, all cores theirs. */
export const ack = (bench: Bench): Promise<Row> =>
  againstFloor(bench, {
    what: 'one-event beacons a second ÷ floor',
    target: '≥ 0.90',
    events: 1,
    isPinned: false,
  })

/** The same with the collector pinned to one core. */
export const ackPinned = (bench: Bench): Promise<Row> =>
  againstFloor(bench, {
    what: 'one-event beacons a second ÷ floor, collector on one core',
    target: '≥ 0.70',
    events: 1,
    isPinned: true,
  })

/** Beacons of 50 events with the collector pinned to one core. */
export const batch = (bench: Bench): Promise<Row> =>
  againstFloor(bench, {
    what: 'batches of 50 ÷ floor, collector on one core',
    target: '≥ 80,000 events/s',
    events: 50,
    isPinned: true,
  })

interface Comparison {
  what: string
  target: string
  events: number
  isPinned: boolean
}

async function againstFloor(
  bench: Bench,
  { what, target, events, isPinned }: Comparison,
): Promise<Row> {
  const refusal = isPinned ? pinningRefusal() : null
  if (refusal !== null) return { what, value: '-', target, detail: `not measured: ${refusal}` }
  return withService((service) =>
    withFloor(async (floor) => {
      if (isPinned) {
        pinService(service)
        pin(floor.pid, measuredCore)
      }
      const measure = async (name: string, url: string) => {
        const { requestsPerSecond } = await post(bench, service, url, events, isPinned)
        bench.log(`${what}: ${name} ${Math.round(requestsPerSecond * events)} events/s`)
        await untilQuiet(service)
        return requestsPerSecond * events
      }
      await warmUp(bench, service, [service.url, floor.url], events, isPinned)
      const { a, b, ratio } = await interleave(
        bench.repeats,
        () => measure('collector', service.url),
        () => measure('floor', floor.url),
      )
      return {
        what,
        value: ratio.toFixed(2),
        target,
        detail: `${Math.round(a)} ÷ ${Math.round(b)} events/s`,
      }
    }),
  )
}

/**
 * Latency of acknowledgements at half of the collector's maximum load, and its causes. It alternates with the
 * floor under the same load, alone and during as many inserts. No process that shares this machine with its
 * stores and with the load can be faster than that.
 */
export async function latency(bench: Bench): Promise<Row[]> {
  return withService(
    (service) =>
      withFloor(async (floor) => {
        await warmUp(bench, service, [service.url, floor.url], 1, false)
        const most = await post(bench, service, service.url, 1, false)
        await untilQuiet(service)
        const rate = most.requestsPerSecond / 2
        const measure = async (who: string, url: string, watched: Watched, eventsBeside = 0) => {
          await longestStallMs(watched)
          const [half] = await Promise.all([
            post(bench, service, url, 1, false, rate),
            eventsBeside &&
              post(bench, service, service.url, eventsBeside, false, rate / eventsBeside),
          ])
          const stallMs = await longestStallMs(watched)
          bench.log(
            `half load, ${who}: p50 ${half.p50Ms} ms, p99 ${half.p99Ms} ms, longest stall ${stallMs} ms`,
          )
          await untilQuiet(service)
          return { ...half, stallMs }
        }
        const collector: Half[] = []
        const alone: Half[] = []
        const besideInserts: Half[] = []
        for (let i = 0; i < bench.repeats; i++) {
          collector.push(await measure('collector', service.url, workerOf(service)))
          alone.push(await measure('floor', floor.url, floor))
          besideInserts.push(await measure('floor beside inserts', floor.url, floor, 50))
        }
        const perSecond = median(collector.map(({ requestsPerSecond }) => requestsPerSecond))
        return [
          {
            what: 'ack at half load, p50 / p99',
            value: timesOf(collector),
            target: 'p99 ≤ 5 ms',
            detail: `${Math.round(perSecond)} of ${Math.round(most.requestsPerSecond)} beacons/s; floor ${timesOf(alone)}, with as many events inserted beside it ${timesOf(besideInserts)}`,
          },
          {
            what: 'longest stall of the event loop meanwhile',
            value: `${stallOf(collector)} ms`,
            target: '≤ 3 ms',
            detail: `of ${bench.seconds} s; floor ${stallOf(alone)}, with as many events inserted beside it ${stallOf(besideInserts)}`,
          },
        ]
      }, watchStalls),
    watchStalls,
  )
}

type Half = LoadResult & { stallMs: number }

const timesOf = (halves: readonly Half[]): string =>
  `${median(halves.map(({ p50Ms }) => p50Ms)).toFixed(2)} / ${median(halves.map(({ p99Ms }) => p99Ms)).toFixed(2)} ms`

const stallOf = (halves: readonly Half[]): string =>
  median(halves.map(({ stallMs }) => stallMs)).toFixed(1)

/** Both sides run hot code before either is measured. */
export async function warmUp(
  bench: Bench,
  service: Service,
  urls: string[],
  events: number,
  isPinned: boolean,
) {
  for (const url of urls) await requireAccepted(service, url, events)
  for (const url of urls) await post({ ...bench, seconds: 2 }, service, url, events, isPinned)
  await untilQuiet(service)
}

/** A beacon that is answered 200 but rejected would make a fast and worthless measurement. */
async function requireAccepted({ demo }: Service, url: string, events: number): Promise<void> {
  const parts = beaconText(demo.pixel_id, events).split(idPlaceholder)
  const answer = await postBeacon(
    url,
    parts.reduce((text, part) => `${text}${newEventId()}${part}`),
  )
  const receipt = (await answer.json()) as BeaconReceipt
  if (receipt.accepted !== events) throw new Error(`${url} answered ${JSON.stringify(receipt)}`)
}

/** Sends beacons with `events` events each for `bench.seconds`, at most `rate` a second. */
export const post = (
  { seconds, connections }: Bench,
  service: Service,
  url: string,
  events: number,
  isPinned: boolean,
  rate?: number,
): Promise<LoadResult> =>
  load({
    url,
    seconds,
    connections,
    rate,
    core: isPinned ? otherCore : undefined,
    body: beaconText(service.demo.pixel_id, events),
  })

/** Runs the floor, one process, for as long as `use` does. */
async function withFloor<T>(
  use: (floor: { url: string; pid: number }) => Promise<T>,
  env: Record<string, string> = {},
): Promise<T> {
  const child = spawn(process.execPath, [join(packageRoot, 'dist/bench/floor.js')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  const exited = once(child, 'exit')
  try {
    const [port] = (await once(child.stdout, 'data')) as [Buffer]
    return await use({ url: `http://127.0.0.1:${Number(port.toString())}`, pid: child.pid! })
  } finally {
    child.kill('SIGKILL')
    await exited
  }
}
