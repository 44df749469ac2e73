import { rmSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { seededRandom } from '../../collector/platform/seededRandom.ts'
import { startBalancer } from '../harness/balancer.ts'
import { startService } from '../harness/service.ts'
import { audit, waitUntilShipped } from './audit.ts'
import { environmentOf, type ScenarioOptions, type ScenarioResult } from './scenario.ts'
import { Sender } from './sender.ts'

export interface UpgradeOptions extends ScenarioOptions {
  /** A checkout of the version before, which was built there. */
  from: string
  collectors: number
  /** Events a second. */
  rate: number
  connections: number
  /** How long each stage lasts. */
  stageMs: number
}

export interface UpgradeResult extends ScenarioResult {
  /** Collectors that run this version at the end. */
  upgraded: number
}

/**
 * Runs collectors of an older version behind a balancer, under a steady load. Replaces one after the other by
 * this version, on its own data directory. Then compares acknowledged events with the API.
 */
export async function runUpgrade(options: UpgradeOptions): Promise<UpgradeResult> {
  const { stores, seed, log, from, stageMs } = options
  const random = seededRandom(seed)
  const env = environmentOf(stores)
  const first = await startService({ env, checkout: from })
  const collectors = [first]
  while (collectors.length < options.collectors)
    collectors.push(await startService({ env, checkout: from }))
  const balancer = await startBalancer(
    collectors.map(({ url }) => url),
    random,
  )
  try {
    const sender = new Sender({
      url: balancer.url,
      pixelIds: [first.demo.pixel_id],
      random,
      rate: options.rate,
      connections: options.connections,
    })
    await delay(stageMs)
    for (const [index, { url, dataDir, end }] of collectors.entries()) {
      await end('SIGTERM')
      collectors[index] = await startService({ env: { ...env, PORT: new URL(url).port }, dataDir })
      log(`${index + 1}/${collectors.length} upgraded: ${sender.acknowledged} acknowledged`)
      await delay(stageMs)
    }
    await sender.stop()
    log(`all ${sender.acknowledged} acknowledged; waiting until they are shipped`)
    const api = { ...collectors[0]!, demo: first.demo }
    await waitUntilShipped(api, sender)
    return {
      ...(await audit(api, sender)),
      upgraded: collectors.length,
      seed,
      retried: sender.retried,
      repeated: sender.repeated,
      answers: Object.fromEntries(sender.answers),
      longestSilenceMs: sender.longestSilenceMs,
    }
  } catch (error) {
    const said = collectors.map((each) => each.output().slice(-2_000)).join('\n—\n')
    throw new Error(`${(error as Error).message}\nThe services said:\n${said}`, { cause: error })
  } finally {
    await balancer.close()
    await Promise.all(collectors.map((each) => each.end('SIGTERM')))
    for (const { dataDir } of collectors) rmSync(dataDir, { recursive: true, force: true })
  }
}
