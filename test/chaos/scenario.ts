import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { seededRandom } from '../../collector/platform/seededRandom.ts'
import { type Service, startService } from '../harness/service.ts'
import { type Audit, audit, waitUntilShipped } from './audit.ts'
import { Sender, type SenderOptions } from './sender.ts'

/** Real stores for a scenario's service; it runs the omitted ones itself. */
export interface Stores {
  clickhouseUrl?: string
  /** Default: one that its service makes, and that stays. */
  clickhouseDatabase?: string
  /** Instead: what names the servers of a cluster. */
  shards?: Record<string, string>
  databaseUrl?: string
  /** The settings of a replicated log. */
  nats?: Record<string, string>
}

export interface ScenarioOptions {
  stores: Stores
  seed: number
  /** Gets a line of progress now and then. */
  log: (line: string) => void
}

/** Everything a driver sends comes from one address and for one pixel, which is what the limits are against. */
export const withoutLimits = { FOOTFALL_EVENTS_PER_IP: '0', FOOTFALL_EVENTS_PER_PIXEL: '0' }

/** Environment of the service for the stores, with its own ClickHouse database. */
export const environmentOf = ({
  clickhouseUrl,
  clickhouseDatabase = `chaos_${randomBytes(6).toString('hex')}`,
  shards,
  databaseUrl,
  nats,
}: Stores): Record<string, string> => ({
  ...withoutLimits,
  FOOTFALL_DEMO: 'true',
  // Figures must not change while a test compares them.
  FOOTFALL_DEMO_VISITS: 'false',
  ...(clickhouseUrl && { CLICKHOUSE_URL: clickhouseUrl, CLICKHOUSE_DATABASE: clickhouseDatabase }),
  ...shards,
  ...nats,
  ...(databaseUrl && { DATABASE_URL: databaseUrl }),
})

/** Results that every scenario reports, in addition to its own. */
export interface ScenarioResult extends Audit {
  seed: number
  retried: number
  repeated: number
  /** Beacons by what came back. */
  answers: Record<string, number>
  longestSilenceMs: number
}

/**
 * Starts a service, has `scenario` send to it, then waits until everything acknowledged is shipped and audits it.
 * The service is ended, whatever happens, and its data removed unless `dataDir` was given.
 */
export async function withLoad<Own>(
  options: ScenarioOptions & {
    load: Pick<SenderOptions, 'rate' | 'connections' | 'eventsPerBeacon' | 'lostAnswers'>
    env?: Record<string, string>
    dataDir?: string
  },
  scenario: (service: Service, sender: Sender) => Promise<Own>,
): Promise<Own & ScenarioResult> {
  const { stores, seed, load, dataDir, log } = options
  const service = await startService({
    env: { ...environmentOf(stores), ...options.env },
    ...(dataDir !== undefined && { dataDir }),
  })
  try {
    const sender = new Sender({
      url: service.url,
      pixelIds: [service.demo.pixel_id],
      random: seededRandom(seed),
      ...load,
    })
    const own = await scenario(service, sender)
    await sender.stop()
    log(`all ${sender.acknowledged} acknowledged; waiting until they are shipped`)
    await waitUntilShipped(service, sender)
    const audited = await audit(service, sender)
    return {
      ...own,
      ...audited,
      seed,
      retried: sender.retried,
      repeated: sender.repeated,
      answers: Object.fromEntries(sender.answers),
      longestSilenceMs: sender.longestSilenceMs,
    }
  } catch (error) {
    throw new Error(
      `${(error as Error).message}\nThe service said:\n${service.output().slice(-2000)}`,
      {
        cause: error,
      },
    )
  } finally {
    await service.end('SIGTERM')
    if (dataDir === undefined) rmSync(service.dataDir, { recursive: true, force: true })
  }
}
