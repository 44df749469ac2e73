import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'
import { seededRandom } from '../../collector/platform/seededRandom.ts'
import { beaconOf, customEvent, postBeacon, readRows } from '../harness/api.ts'
import { type Cluster, startCluster } from '../harness/cluster.ts'
import { type Service, waitFor } from '../harness/service.ts'
import { type Answers, compareAnswers, isChargedAlike } from './answers.ts'
import { audit, waitUntilShipped } from './audit.ts'
import { watchConnections } from './connections.ts'
import { Follower } from './follower.ts'
import { findWorkers, killNow } from './processes.ts'
import { environmentOf, type ScenarioOptions, type ScenarioResult } from './scenario.ts'
import { Sender } from './sender.ts'

/**
 * Faults of a collector: it is killed and restarted, one of its processes is killed, or it pauses for a while
 * and then continues. Or a shared store is killed. Or a collector is killed and its disk is deleted: with a replicated
 * log, that loses nothing. Or a shard other than the first is away for a while, and a collector is killed meanwhile.
 */
export const mishaps = [
  'collector',
  'worker',
  'pause',
  'clickhouse',
  'postgres',
  'nats',
  'disk',
  'shard',
] as const
export type Mishap = (typeof mishaps)[number]

export interface ClusterOptions extends ScenarioOptions {
  collectors: number
  /** Processes that answer reads. */
  apis: number
  /** How often something happens. */
  kills: number
  /** Events a second. */
  rate: number
  connections: number
  mishaps: readonly Mishap[]
  /** How long a collector stands still at most. */
  pauseMsMax: number
  /** Kills a shard, from 0, and returns what starts it again; for the mishap `shard`. */
  takeAway?: (shard: number) => Promise<() => void>
  /** How long a shard is away; default a minute. */
  shardAwayMs?: number
  /** Kills a store, which its owner starts again; for the mishaps of stores. */
  killStore?: (store: 'clickhouse' | 'postgres' | 'nats') => unknown
  /** Starts the killed server of the log again before a collector without a disk is retired. */
  restoreLog?: () => Promise<unknown>
}

export interface ClusterResult extends ScenarioResult {
  kills: Record<Mishap, number>
  /** Ids that were sent to every collector at once, and the rows there are of them. */
  sentToAll: number
  rowsOfThem: number
  /** Result of a reader that copied all events in the order of arrival: missing and duplicate events. */
  feedMissed: number
  feedDoubled: number
  /** Of pages that all processes of the API were asked for at once. */
  asked: Answers
  /** Connections of PostgreSQL: the maximum at a kill, and at the end, by purpose. */
  connectionsMost: number
  connections: Record<string, number>
}

/**
 * Whether every event is there once, from any collectors, and was copied once, and read pages were charged
 * once.
 */
export const isOnce = (result: ClusterResult): boolean =>
  result.rowsOfThem === result.sentToAll &&
  isChargedAlike(result.asked) &&
  result.lost + result.doubled + result.altered + result.feedMissed + result.feedDoubled === 0

const betweenMs = { least: 500, most: 3_000 }
/** Behind a balancer, every tenth answer is lost, and its events may go to another collector. */
const lostAnswers = 0.1
const idsToAll = 1_000
const eventsPerBeacon = 50
/** NATS stores the last message of a killed collector after this time at most. */
const lastPublishMs = 5_000

/**
 * Runs several collectors and one api on the same stores, and sends the same ids to all collectors. Then
 * sends a steady load behind a balancer while collectors are killed, and compares acknowledged events with
 * the api.
 */
export async function runCluster(options: ClusterOptions): Promise<ClusterResult> {
  const { stores, seed, log } = options
  const random = seededRandom(seed)
  const env = environmentOf(stores)
  const cluster = await startCluster(env, {
    collectors: options.collectors,
    apis: options.apis,
    random,
  })
  const { api, apis, collectors, balancer } = cluster
  const connections = watchConnections(env.DATABASE_URL!)
  const kills = {
    collector: 0,
    worker: 0,
    pause: 0,
    clickhouse: 0,
    postgres: 0,
    nats: 0,
    disk: 0,
    shard: 0,
  }
  const shardUrls = env.CLICKHOUSE_SHARDS?.split(',') ?? []
  const happen = async (mishap: Mishap, index: number): Promise<void> => {
    const collector = collectors[index]!
    kills[mishap]++
    if (mishap === 'shard') {
      const shard = 1 + (kills.shard % (shardUrls.length - 1))
      const halfMs = (options.shardAwayMs ?? 60_000) / 2
      // The local ClickHouse aborts when a connection to another server breaks, so nothing asks all shards meanwhile.
      follower.isPaused = true
      const back = await options.takeAway!(shard)
      await delay(halfMs)
      await collector.end('SIGKILL')
      await cluster.startAgain(index)
      await delay(halfMs)
      back()
      follower.isPaused = false
    } else if (mishap === 'clickhouse' || mishap === 'postgres' || mishap === 'nats')
      await options.killStore!(mishap)
    else if (mishap === 'worker') {
      const workers = findWorkers(collector.process.pid!)
      if (workers.length > 0) killNow(random.pick(workers).pid)
    } else if (mishap === 'pause') {
      collector.process.kill('SIGSTOP')
      await delay(random.integer(500, options.pauseMsMax))
      collector.process.kill('SIGCONT')
    } else {
      await collector.end('SIGKILL')
      if (mishap === 'disk') {
        await options.restoreLog?.()
        await deleteDisk(collector, env.DATABASE_URL!)
      }
      await delay(random.integer(0, 1_000))
      await cluster.startAgain(index)
    }
  }

  const follower = new Follower(api, Date.now() - 60_000)
  try {
    const rowsOfThem = await sendToAll(cluster, follower)
    log(`${idsToAll} ids sent to ${collectors.length} collectors: ${rowsOfThem} rows`)
    const sender = new Sender({
      url: balancer.url,
      pixelIds: cluster.pixelIds,
      random,
      lostAnswers,
      rate: options.rate,
      connections: options.connections,
    })
    for (let kill = 0; kill < options.kills; kill++) {
      await delay(random.integer(betweenMs.least, betweenMs.most))
      const mishap = options.mishaps[kill % options.mishaps.length]!
      await happen(mishap, kill % collectors.length)
      log(
        `${kill + 1}/${options.kills} ${mishap}: ${sender.acknowledged} acknowledged, ${sender.waiting} waiting`,
      )
    }
    await sender.stop()
    log(`all ${sender.acknowledged} acknowledged; waiting until they are shipped`)
    await waitUntilShipped(api, sender)
    log(`shipped; ${follower.times.size} copied`)
    // The next start at the latest would duplicate work that a killed collector had begun.
    for (const [index, collector] of collectors.entries()) {
      await collector.end('SIGTERM')
      await cluster.startAgain(index)
    }
    await untilComplete(follower)
    await follower.stop()
    const audited = await audit(api, sender, apis.slice(1))
    const asked = await compareAnswers(cluster, random)
    return {
      ...audited,
      seed,
      kills,
      sentToAll: idsToAll,
      rowsOfThem,
      ...compareFeed(follower, audited.returned + rowsOfThem),
      asked,
      connectionsMost: connections.most(),
      connections: await connections.now(),
      retried: sender.retried,
      repeated: sender.repeated,
      longestSilenceMs: sender.longestSilenceMs,
      answers: Object.fromEntries(sender.answers),
    }
  } catch (error) {
    throw new Error(`${(error as Error).message}\nThe services said:\n${cluster.lastWords()}`, {
      cause: error,
    })
  } finally {
    await follower.stop()
    await connections.close()
    await cluster.close()
  }
}

/**
 * Deletes a collector’s data directory, and retires the collector as its operator would. The log may still store a message
 * of its last second, so the others read the log beyond that first. (The command waits for a minute.)
 */
async function deleteDisk({ dataDir }: Service, databaseUrl: string): Promise<void> {
  const collectorId = readFileSync(join(dataDir, 'collector_id'), 'utf8')
  rmSync(dataDir, { recursive: true })
  const postgres = openPostgres(databaseUrl, () => {})
  // An earlier mishap may have killed PostgreSQL, which starts again.
  const killedMs = Date.now()
  await waitFor('the others', async () => {
    const retired = `DELETE FROM collectors WHERE collector_id = $1 AND
      (SELECT min(complete_until_ms) FROM collectors WHERE collector_id <> $1 AND released_at IS NULL) > $2`
    const { rowCount } = await postgres
      .query(retired, [collectorId, killedMs + lastPublishMs])
      .catch(() => ({ rowCount: 0 }))
    return rowCount === 1
  })
  await postgres.end()
}

/** Sends the same ids to every collector at the same time; resolves with the rows that came of them. */
async function sendToAll(
  { api, collectors, pixelIds }: Cluster,
  follower: Follower,
): Promise<number> {
  const beacons = Array.from({ length: idsToAll / eventsPerBeacon }, (_, index) =>
    beaconOf(
      api,
      Array.from({ length: eventsPerBeacon }, () => customEvent()),
      { pixel_id: pixelIds[index % pixelIds.length] },
    ),
  )
  await Promise.all(
    collectors.map(async ({ url }, index) => {
      for (const beacon of index % 2 === 0 ? beacons : beacons.toReversed()) {
        const answer = await postBeacon(url, beacon)
        if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`)
      }
    }),
  )
  await untilComplete(follower)
  return (await readRows(api, { limit: String(collectors.length * idsToAll) })).length
}

/**
 * Waits until all events received by now, by any collector, are in ClickHouse and copied. It waits as long as
 * the copy grows, and then for `stillMs`.
 */
async function untilComplete(follower: Follower, stillMs = 120_000): Promise<void> {
  const now = Date.now()
  for (let [copied, movedAt] = [0, now]; follower.completeUntil <= now; await delay(200)) {
    if (follower.times.size > copied) [copied, movedAt] = [follower.times.size, Date.now()]
    if (Date.now() - movedAt < stillMs) continue
    const behindMs = now - follower.completeUntil
    throw new Error(
      `${copied} events were copied and no more, ${behindMs} ms behind; last failure: ${follower.lastFailure}`,
    )
  }
}

/** Events that the api returns and the follower did not get, and those it got more than once. */
function compareFeed(
  follower: Follower,
  returned: number,
): Pick<ClusterResult, 'feedMissed' | 'feedDoubled'> {
  const times = [...follower.times.values()]
  return {
    feedMissed: returned - times.length,
    feedDoubled: times.filter((count) => count > 1).length,
  }
}
