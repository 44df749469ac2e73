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

/** A run of the job, with the progress that it has written. */
interface Run extends HitsDeps {
  readonly lease: Pick<Lease, 'inTransaction'>
  readonly signal: AbortSignal
  readonly nowMs: number
  readonly transitHosts: readonly string[]
  progress: HitsProgress
}

/**
 * One run. It may be stopped at any point: the next one continues. Its steps:
 *
 * 1. `resume` deletes what an interrupted run has appended, and starts from the beginning after a loss of all hits.
 * 2. `appendArrived` appends the hits of fresh events that arrived until `untilMs`, in batches.
 * 3. `repairAndCompare`, if it is due, puts late and old events into their sessions. If that leaves some, or an hour has
 *    passed, it compares hits with events, and builds the days again that differ.
 */
export async function keepHits(
  { clickhouse, postgres }: HitsDeps,
  lease: Pick<Lease, 'inTransaction'>,
  signal: AbortSignal,
  { nowMs = Date.now(), repairs = repairEveryMs } = {},
): Promise<void> {
  const transitHosts = await readTransitHosts(postgres)
  const progress = await readHitsProgress(postgres)
  const run: Run = { clickhouse, postgres, lease, signal, nowMs, transitHosts, progress }
  await resume(run)
  // Everything from before complete_until is in ClickHouse. More of that millisecond may follow.
  // A collector that is lost holds it back. Its events are found by a comparison when they arrive.
  const completeMs = ((await readCompleteUntil(postgres)) ?? 0) - 1
  const untilMs = Math.max(run.progress.appended_ms, completeMs, nowMs - waitMs)
  const isDue = areRepairsDue(run, untilMs, repairs)
  await appendArrived(run, untilMs)
  figuresCompleteUntil.set(untilMs / 1000)
  const everyMs = completeMs < untilMs ? waitMs : compareEveryMs
  if (isDue && !signal.aborted) await repairAndCompare(run, untilMs, everyMs)
}

async function note(run: Run, changed: Partial<HitsProgress>): Promise<void> {
  run.progress = { ...run.progress, ...changed }
  await run.lease.inTransaction((client) => writeHitsProgress(client, changed))
}

async function resume(run: Run): Promise<void> {
  const { clickhouse } = run
  if (run.progress.appending_ms !== null) {
    await deleteUnfinished(clickhouse, run.progress.appended_ms)
    // Its insert may still arrive.
    await note(run, { appending_ms: null, compared_ms: 0 })
  }
  if (run.progress.appended_ms > 0 && (await hasLostHits(clickhouse)))
    await note(run, { appended_ms: 0, repaired_ms: 0 })
}

/** While complete_until stands still, so does untilMs. A comparison that was requested or cut off does not wait for it. */
const areRepairsDue = ({ nowMs, progress }: Run, untilMs: number, everyMs: number): boolean =>
  progress.compared_ms <= 0
    ? nowMs - progress.repaired_ms >= Math.min(everyMs, repairSoonMs)
    : untilMs - progress.repaired_ms >= everyMs

async function appendArrived(run: Run, untilMs: number): Promise<void> {
  for (;;) {
    const fromMs = run.progress.appended_ms
    const batch = await findBatch(run.clickhouse, fromMs, untilMs)
    if (batch.events > 0) {
      await note(run, { appending_ms: batch.untilMs })
      await run.clickhouse.command(appendQuery(fromMs, batch.untilMs, run.transitHosts))
      await note(run, { appended_ms: batch.untilMs, appending_ms: null })
    }
    if (run.signal.aborted || batch.events < eventsMax) return
  }
}

async function repairAndCompare(run: Run, untilMs: number, compareMs: number): Promise<void> {
  const { clickhouse, lease, signal, nowMs, transitHosts } = run
  const arrived = { appendedMs: untilMs, transitHosts }
  // A repair that is cut off may have deleted hits.
  await note(run, { appended_ms: untilMs })
  const comparedMs = await lease.inTransaction(beginComparing)
  const left = await repairHits(clickhouse, run.progress.repaired_ms, arrived, signal)
  if (signal.aborted) return
  if (left !== 'late events') await note(run, { repaired_ms: untilMs })
  if (left === null && nowMs - comparedMs < compareMs) {
    await lease.inTransaction((client) => noteCompared(client, comparedMs))
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
