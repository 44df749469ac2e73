import { rmSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { type Random, seededRandom } from '../../collector/platform/seededRandom.ts'
import { type Service, startService, waitFor } from '../harness/service.ts'
import { type Audit, audit, waitUntilShipped } from './audit.ts'
import { findClickHouse, findWorkers, killNow } from './processes.ts'
import { withoutLimits } from './scenario.ts'
import { Sender } from './sender.ts'

/** What can be killed: the primary process, one that takes beacons for it, its local ClickHouse, or two at once. */
export const killKinds = ['service', 'worker', 'clickhouse', 'both'] as const
export type KillKind = (typeof killKinds)[number]

export interface ChaosOptions {
  seed: number
  kills: number
  /** Events a second. */
  rate: number
  connections: number
  kinds: readonly KillKind[]
  /** Processes that take beacons. */
  workers: number
  /** Gets a line of progress per kill. */
  log: (line: string) => void
}

export interface ChaosResult extends Audit {
  seed: number
  /** How many of each kind; `starting` are those of `service` that fell into its start. */
  kills: Record<KillKind | 'starting', number>
  /** Events sent again because they were not acknowledged, and although they were. */
  retried: number
  repeated: number
  /** Beacons by what came back. */
  answers: Record<string, number>
  /** Longest time in which events waited and none was acknowledged. */
  longestSilenceMs: number
  /** Where the service's data is kept when something was lost, doubled or counted wrongly; else it is removed. */
  dataDir: string | null
}

const betweenKillsMs = { least: 100, most: 3_000 }
const startKillChance = 0.2
const startKillMs = { least: 50, most: 2_000 }
const clickhouseBackMs = 60_000
const lostAnswers = 0.02

/**
 * Runs the built service under a steady load of numbered events, and kills parts of it at random moments with
 * SIGKILL. At the end it compares acknowledged events with the API. The moments follow the seed; the work of
 * the processes does not.
 */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const { seed, log } = options
  const random = seededRandom(seed)
  const env = { ...withoutLimits, FOOTFALL_WORKERS: String(options.workers) }
  const kills = { service: 0, worker: 0, clickhouse: 0, both: 0, starting: 0 }

  let service = await startService({ env })
  const again = { dataDir: service.dataDir, env: { ...env, PORT: new URL(service.url).port } }
  const sender = new Sender({
    url: service.url,
    pixelIds: [service.demo.pixel_id],
    random,
    rate: options.rate,
    connections: options.connections,
    lostAnswers,
  })
  const nextKind = shuffledForEver(options.kinds, random)

  try {
    for (let kill = 1; kill <= options.kills; kill++) {
      await delay(random.integer(betweenKillsMs.least, betweenKillsMs.most))
      const kind = await killOne(nextKind())
      log(
        `${kill}/${options.kills} ${kind}: ${sender.acknowledged} acknowledged, ${sender.waiting} waiting, ` +
          `longest silence ${(sender.longestSilenceMs / 1000).toFixed(1)} s`,
      )
    }
    await sender.stop()
    log(`all ${sender.acknowledged} acknowledged; waiting until they are shipped`)
    await waitUntilShipped(service, sender)

    // The next start at the latest ships the data of a killed process, and would also create duplicates.
    const exitCode = await service.end('SIGTERM')
    if (exitCode !== 0)
      throw new Error(`the service ended with ${exitCode} on SIGTERM:\n${service.output()}`)
    service = await startService(again)
    await shipOneOfEachConnection(service, random, options.connections, sender)
    const audited = await audit(service, sender)
    const isRight =
      audited.lost + audited.doubled + audited.altered === 0 &&
      isDeepStrictEqual(audited.figures, audited.expected)
    await service.end('SIGTERM')
    if (isRight) rmSync(service.dataDir, { recursive: true, force: true })
    return {
      ...audited,
      seed,
      kills,
      retried: sender.retried,
      repeated: sender.repeated,
      answers: Object.fromEntries(sender.answers),
      longestSilenceMs: sender.longestSilenceMs,
      dataDir: isRight ? null : service.dataDir,
    }
  } catch (error) {
    await service.end('SIGKILL')
    throw new Error(
      `chaos with seed ${seed}, data in ${again.dataDir}: ${(error as Error).message}`,
      {
        cause: error,
      },
    )
  }

  /** Kills and, where nobody else does, starts again. Returns what was done, in words. */
  async function killOne(kind: KillKind): Promise<string> {
    const primary = service.process.pid!
    if (kind === 'worker') {
      const workers = findWorkers(primary)
      if (workers.length === 0) return 'no worker to kill'
      killNow(random.pick(workers).pid)
      kills.worker++
      return kind
    }
    const clickhouse =
      kind === 'service'
        ? undefined
        : await waitFor('ClickHouse to be back', () => findClickHouse(primary), clickhouseBackMs)
    if (clickhouse) killNow(clickhouse.pid)
    kills[kind]++
    if (kind === 'clickhouse') return kind

    await service.end('SIGKILL')
    const killedStarting = random.chance(startKillChance) ? await killWhileStarting() : ''
    service = await startService(again)
    return kind + killedStarting
  }

  async function killWhileStarting(): Promise<string> {
    const afterMs = random.integer(startKillMs.least, startKillMs.most)
    const ready = startService({
      ...again,
      onSpawn: (process) => setTimeout(() => process.kill('SIGKILL'), afterMs),
    })
    const started = await ready.catch(() => null)
    // It was ready before its time came.
    await started?.end('SIGKILL')
    kills.starting++
    return `, again ${afterMs} ms into its start`
  }
}

/**
 * Sends events over new connections, so that every process that accepts beacons gets some, and waits until
 * they are readable. Shipping keeps the order, so earlier events in the spools are shipped too.
 */
async function shipOneOfEachConnection(
  service: Service,
  random: Random,
  connections: number,
  earlier: Sender,
): Promise<void> {
  const last = new Sender({
    url: service.url,
    pixelIds: [service.demo.pixel_id],
    random,
    rate: connections * 10,
    connections,
  })
  await waitFor('the last events', () => last.acknowledged >= connections * 5)
  await last.stop()
  await waitUntilShipped(service, earlier, {
    acknowledged: earlier.acknowledged + last.acknowledged,
  })
}

/** Every kind equally often, in an order that follows the seed. */
function shuffledForEver<T>(values: readonly T[], random: Random): () => T {
  let bag: T[] = []
  return () => {
    if (bag.length === 0) bag = [...values]
    return bag.splice(random.integer(0, bag.length - 1), 1)[0]!
  }
}
