import { setTimeout as delay } from 'node:timers/promises'
import { restMs } from '../../events/query/sessionSplit.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { readCompleteUntil } from '../../platform/collectors.ts'
import { hourMs } from '../../platform/days.ts'
import type { Queue } from '../../platform/jobs/queue.ts'
import { figuresCompleteUntil } from '../../platform/metrics.ts'
import { type Lease, LeaseHeldError, withLease } from '../../platform/postgres/lease.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { appendHitsSql, deleteHitsSql, eventsMax } from './appendHits.ts'
import { compareHits } from './compareHits.ts'
import {
  beginComparing,
  type HitsProgress,
  noteCompared,
  readHitsProgress,
  writeHitsProgress,
} from './hitsProgress.ts'
import { freshMs, isFresh, receivedIn, repairHits } from './repairHits.ts'

/** A run takes about 100 ms of analysis, whatever it appends: 6 % of a core while events arrive. */
const pauseMs = 1_500
/** A job appends again and again for this time: jobs of their own would write thousands of rows a day. */
const jobMs = 60_000
const heldSeconds = 5
const repairEveryMs = 60_000
/** Repairs before a comparison that somebody waits for. */
const repairSoonMs = 10_000
const compareEveryMs = hourMs
/** A comparison that has to build many days ends after this time, so that new events are appended in between. */
const comparingMs = 20_000
/** The longest wait for events that a collector has accepted and not shipped. */
const waitMs = 5 * 60_000

interface HitsDeps {
  readonly clickhouse: ClickHouse
  readonly postgres: Postgres
}

/** The background job that keeps `hits` equal to the events of pixels. One primary at a time runs it. */
export const hitsQueues = (deps: HitsDeps): Queue[] => [
  {
    name: 'analytics.hits',
    schedule: '* * * * *',
    timeoutSeconds: 3_600,
    async run({ signal, stopping }) {
      try {
        await withLease(deps.postgres, 'hits', async (lease) => {
          const stops = AbortSignal.any([signal, lease.signal, stopping])
          const endAt = performance.now() + jobMs
          while (!stops.aborted && performance.now() < endAt) {
            await keepHits(deps, lease, stops)
            // Rejects if the job is to stop.
            await delay(pauseMs, undefined, { signal: stops }).catch(() => {})
          }
        })
        return { againInSeconds: 0 }
      } catch (error) {
        // A process that was killed holds it until it expires.
        if (error instanceof LeaseHeldError) return { againInSeconds: heldSeconds }
        throw error
      }
    },
  },
]

/**
 * Appends the hits of all events that have arrived. From time to time it repairs sessions with late or old events, and
 * compares hits with events. It may be stopped at any point: the next run goes on.
 */
export async function keepHits(
  { clickhouse, postgres }: HitsDeps,
  lease: Pick<Lease, 'inTransaction'>,
  signal: AbortSignal,
  { nowMs = Date.now(), repairs = repairEveryMs } = {},
): Promise<void> {
  const transitHosts = await readTransitHosts(postgres)
  let progress = await readHitsProgress(postgres)
  const note = async (changed: Partial<HitsProgress>) => {
    progress = { ...progress, ...changed }
    await lease.inTransaction((client) => writeHitsProgress(client, changed))
  }
  if (progress.appending_ms !== null) {
    await deleteUnfinished(clickhouse, progress.appended_ms)
    // Its insert may still arrive.
    await note({ appending_ms: null, compared_ms: 0 })
  }
  if (progress.appended_ms > 0 && (await hasLostHits(clickhouse)))
    await note({ appended_ms: 0, repaired_ms: 0 })
  // Everything from before complete_until is in ClickHouse. More of that millisecond may follow.
  // A collector that is lost holds it back. Its events are found by a comparison when they arrive.
  const completeMs = ((await readCompleteUntil(postgres)) ?? 0) - 1
  const untilMs = Math.max(progress.appended_ms, completeMs, nowMs - waitMs)
  // While complete_until stands still, so does untilMs. A comparison that was asked for or cut off does not wait for it.
  const repairsDue =
    progress.compared_ms <= 0
      ? nowMs - progress.repaired_ms >= Math.min(repairs, repairSoonMs)
      : untilMs - progress.repaired_ms >= repairs
  for (;;) {
    const batch = await findBatch(clickhouse, progress.appended_ms, untilMs)
    if (batch.events > 0) {
      await note({ appending_ms: batch.untilMs })
      await clickhouse.command(appendQuery(progress.appended_ms, batch.untilMs, transitHosts))
      await note({ appended_ms: batch.untilMs, appending_ms: null })
    }
    if (signal.aborted || batch.events < eventsMax) break
  }
  figuresCompleteUntil.set(untilMs / 1000)
  if (signal.aborted || !repairsDue) return
  // A repair that is cut off may have deleted hits.
  await note({ appended_ms: untilMs })
  const compared_ms = await lease.inTransaction(beginComparing)
  const arrived = { appendedMs: untilMs, transitHosts }
  const left = await repairHits(clickhouse, progress.repaired_ms, arrived, signal)
  if (signal.aborted) return
  if (left !== 'late events') await note({ repaired_ms: untilMs })
  const everyMs = completeMs < untilMs ? waitMs : compareEveryMs
  const isDue = left !== null || nowMs - compared_ms >= everyMs
  if (!isDue) {
    await lease.inTransaction((client) => noteCompared(client, compared_ms))
    return
  }
  const stops = AbortSignal.any([signal, AbortSignal.timeout(comparingMs)])
  await compareHits(clickhouse, arrived, stops)
  if (!stops.aborted) await lease.inTransaction((client) => noteCompared(client, nowMs))
}

/** Whether events have no hits at all, as after a restore. */
async function hasLostHits(clickhouse: ClickHouse): Promise<boolean> {
  const [found] = await clickhouse.rows<{ hits: number; events: number }>({
    sql: `SELECT (SELECT count() FROM hits) AS hits, (SELECT count() FROM (SELECT 1 FROM events WHERE source = 'pixel' LIMIT 1)) AS events`,
  })
  return found!.hits === 0 && found!.events > 0
}

/** Deletes the hits of a run that was interrupted. */
const deleteUnfinished = (clickhouse: ClickHouse, appendedMs: number): Promise<void> =>
  clickhouse.command({
    sql: deleteHitsSql("received_at > fromUnixTimestamp64Milli({appendedMs:Int64}, 'UTC')"),
    params: { appendedMs },
  })

/** The number of new events, at most eventsMax, and when the last of them arrived. */
async function findBatch(
  clickhouse: ClickHouse,
  fromMs: number,
  untilMs: number,
): Promise<{ events: number; untilMs: number }> {
  const [found] = await clickhouse.rows<{ events: number; until_ms: number }>({
    sql: `SELECT count() AS events, toUnixTimestamp64Milli(max(received_at)) AS until_ms
          FROM (SELECT received_at FROM events WHERE source = 'pixel' AND ${receivedIn} AND ${isFresh} ORDER BY received_at LIMIT {eventsMax:UInt32})`,
    params: { fromMs, untilMs, eventsMax },
  })
  return {
    events: found!.events,
    untilMs: found!.events < eventsMax ? untilMs : found!.until_ms,
  }
}

/** The INSERT of the hits of events that arrived after `fromMs` and up to `untilMs`. */
export const appendQuery = (fromMs: number, untilMs: number, transitHosts: readonly string[]) => ({
  sql: appendHitsSql({
    isNew: `${receivedIn} AND ${isFresh}`,
    isBefore: `ts_millis >= {fromMs:Int64} - ${freshMs + restMs}`,
  }),
  params: { fromMs, untilMs, transitHosts },
})

/** Reads the hosts of all projects that start no session, each as `project_id host`: the parameter of appendHitsSql. */
async function readTransitHosts(client: Queryable): Promise<string[]> {
  const { rows } = await client.query<{ entry: string }>(
    `SELECT project_id || ' ' || host AS entry FROM projects, unnest(transit_hosts) AS host`,
  )
  return rows.map(({ entry }) => entry)
}
