import { type ConstructorOptions, type JobWithMetadata, PgBoss } from 'pg-boss'
import type { WarnLog } from '../log.ts'
import { listenNotify } from '../postgres/listenNotify.ts'
import type { Postgres } from '../postgres/pool.ts'
import { isUnavailable } from '../storeErrors.ts'
import { jobsChannel, type Queue } from './queue.ts'

/** Longest time until a primary finds a retry, or a job of another primary. Notified jobs run at once. */
const pollSeconds = 5
/** Delay before the retry of a job that needs an unavailable store. */
const awaySeconds = 5
/** After this time without a heartbeat, the next supervision retries the job of a dead process. */
const heartbeatSeconds = 10
const superviseSeconds = 15
const keepJobsSeconds = 2 * 86_400
/** How long running jobs have to end when the process stops. */
const stopTimeoutMs = 5_000
/** The most connections of the pool that all queues use at once. */
const connectionsMax = 2
/** The same error of an unavailable store is logged at most once in this time. */
const sameErrorMs = 60_000

interface JobsOptions {
  postgres: Postgres
  postgresUrl: string
  queues: readonly Queue[]
  log: WarnLog
}

/** The number of jobs of a queue in a state, as of the last supervision. */
interface JobCount {
  queue: string
  state: 'waiting' | 'active' | 'failed'
  count: number
}

export interface Jobs {
  counts(): Promise<JobCount[]>
  /** Waits a moment for running jobs, then returns them to their queues for a retry. */
  stop(): Promise<void>
}

/**
 * Runs the queues' jobs in this process, on the pool's connections and one that listens. Usually one of
 * several primaries runs the jobs of one key; a process that counts as dead may still run. Without PostgreSQL
 * no job runs; when it is available again, every scheduled queue does.
 */
export async function startJobs({
  postgres,
  postgresUrl,
  queues,
  log,
}: JobsOptions): Promise<Jobs> {
  const boss = openBoss(postgres, {
    superviseIntervalSeconds: superviseSeconds,
    monitorIntervalSeconds: 10,
  })
  const warn = throttle(log, sameErrorMs)
  boss.on('error', (error) => warn({ error: error.message }, 'background jobs'))
  boss.on('warning', ({ message }) => warn({ error: message }, 'background jobs'))
  await boss.start()
  await declareQueues(boss, queues)

  const runner = await runQueues(boss, queues, warn)
  const wake = async (name: string) => {
    const queue = queues.find((each) => each.name === name)
    if (queue?.schedule) await runner.send(name, null)
    else if (queue) runner.notify(name)
  }
  const listening = await listenNotify({
    url: postgresUrl,
    channel: jobsChannel,
    load: async () => {
      for (const { name } of queues) await wake(name)
    },
    async changed(names) {
      for (const name of new Set(names)) await wake(name)
    },
    // If PostgreSQL is unavailable now, all queues run when it is available again.
    restore: () => true,
  })

  return {
    async counts() {
      const found = await boss.getQueues(queues.map(({ name }) => name))
      return found.flatMap(({ name, queuedCount, activeCount, failedCount }) => [
        { queue: name, state: 'waiting' as const, count: queuedCount },
        { queue: name, state: 'active' as const, count: activeCount },
        { queue: name, state: 'failed' as const, count: failedCount },
      ])
    },
    async stop() {
      const stopping = runner.stop()
      await listening.close()
      await stopping
      await boss.stop({ graceful: false, close: false })
    },
  }
}

interface QueueRunner {
  /** Adds a job of that key, to run at once or after `startAfter` seconds. */
  send(queue: string, key: string | null, startAfter?: number): Promise<void>
  notify(queue: string): void
  /** Starts no further job, and waits up to five seconds for running jobs. */
  stop(): Promise<void>
}

/** Starts the workers of all queues in this process. */
async function runQueues(
  boss: PgBoss,
  queues: readonly Queue[],
  warn: WarnLog['warn'],
): Promise<QueueRunner> {
  const workers = new Map<string, string[]>()
  /** The next run that each queue and key asked for. */
  const timers = new Map<string, NodeJS.Timeout>()
  const stopping = new AbortController()
  const notify = (queue: string) => {
    for (const worker of workers.get(queue) ?? []) boss.notifyWorker(worker)
  }
  const send = async (queue: string, key: string | null, startAfter = 0) => {
    const one = { group: groupOf(key), ...(key !== null && { singletonKey: key }) }
    await boss.send(queue, null, { ...one, startAfter })
    if (startAfter === 0) notify(queue)
  }
  const sendAgain = async (queue: string, key: string | null, seconds: number) => {
    const of = JSON.stringify([queue, key])
    // A run that something else started would otherwise repeat itself as well, for good.
    clearTimeout(timers.get(of))
    timers.delete(of)
    if (seconds === 0) return send(queue, key)
    const timer = setTimeout(() => {
      timers.delete(of)
      send(queue, key).catch((error: Error) => warn({ error: error.message }, 'background jobs'))
    }, seconds * 1000)
    timers.set(of, timer)
  }
  const run = async (queue: Queue, job: RunningJob) => {
    const { singletonKey, signal, retryCount, retryLimit } = job
    const isLastTry = retryCount >= retryLimit
    try {
      const more = await queue.run({
        key: singletonKey,
        isLastTry,
        signal,
        stopping: stopping.signal,
        send,
      })
      if (more && !stopping.signal.aborted)
        await sendAgain(queue.name, singletonKey, more.againInSeconds)
    } catch (error) {
      warn(
        { queue: queue.name, error: (error as Error).message },
        'a job failed and will be retried',
      )
      if (!isUnavailable(error)) throw error
      // The store caused the failure, so a new job of that key, with all its retries, replaces this one.
      await send(queue.name, singletonKey, awaySeconds)
    }
  }
  for (const queue of queues) {
    const work = () => boss.work(queue.name, workOptions, async ([job]) => run(queue, job!))
    workers.set(queue.name, await Promise.all(Array.from({ length: queue.concurrency ?? 1 }, work)))
  }
  return {
    send,
    notify,
    async stop() {
      stopping.abort()
      for (const timer of timers.values()) clearTimeout(timer)
      const ending = queues.map(({ name }) => boss.offWork(name, { wait: true }))
      await Promise.race([
        Promise.allSettled(ending),
        new Promise((resolve) => setTimeout(resolve, stopTimeoutMs)),
      ])
    },
  }
}

type RunningJob = Pick<JobWithMetadata, 'singletonKey' | 'signal' | 'retryCount' | 'retryLimit'>

const workOptions = {
  pollingIntervalSeconds: pollSeconds,
  includeMetadata: true,
  groupConcurrency: 1,
} as const

/** Opens pg-boss on the pool's connections, in its schema `pgboss`, which the first start creates. */
export const openBoss = (
  postgres: Postgres,
  options: Omit<ConstructorOptions, 'db'> = {},
): PgBoss =>
  new PgBoss({
    db: {
      executeSql: inTurns(connectionsMax, (text: string, values?: unknown[]) =>
        postgres.query(text, values),
      ),
    },
    // The service uses no dependencies between jobs, so this task rarely runs.
    flowIntervalSeconds: 3_600,
    maintenanceIntervalSeconds: 3_600,
    ...options,
  })

/** Returns the pg-boss group of a key: a group runs one job at a time. */
const groupOf = (key: string | null) => ({ id: key ?? 'all' })

/**
 * Applies the declarations of queues and schedules. Other queues stay unchanged, because another primary may
 * have other settings or another version. A queue without workers costs one waiting job.
 */
export async function declareQueues(boss: PgBoss, queues: readonly Queue[]): Promise<void> {
  const [known, schedules] = await Promise.all([boss.getQueues(), boss.getSchedules()])
  for (const { name, schedule, timeoutSeconds = 300, retryLimit = 5 } of queues) {
    const options = {
      expireInSeconds: timeoutSeconds,
      retryLimit,
      retryDelay: 1,
      retryBackoff: true,
      retryDelayMax: 60,
      heartbeatSeconds,
      deleteAfterSeconds: keepJobsSeconds,
    }
    const found = known.find((queue) => queue.name === name)
    // One job per key waits. The group limits running jobs to one per key, because pg-boss's policies for
    // this use outdated counts.
    if (!found) await boss.createQueue(name, { ...options, policy: 'short' })
    else if (
      Object.entries(options).some(
        ([option, value]) => found[option as keyof typeof options] !== value,
      )
    )
      await boss.updateQueue(name, options)
    const scheduled = schedules.find((each) => each.name === name)
    if (schedule && scheduled?.cron !== schedule)
      await boss.schedule(name, schedule, null, { group: groupOf(null) })
    if (!schedule && scheduled) await boss.unschedule(name)
  }
}

/** Limits a function to `max` calls at a time; further calls wait in order. */
function inTurns<Args extends unknown[], T>(
  max: number,
  call: (...args: Args) => Promise<T>,
): (...args: Args) => Promise<T> {
  let free = max
  const waiting: (() => void)[] = []
  return async (...args) => {
    if (free > 0) free--
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await call(...args)
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free++
    }
  }
}

/** Logs a line, unless the same line was logged within `everyMs`. */
function throttle(log: WarnLog, everyMs: number): WarnLog['warn'] {
  const told = new Map<string, number>()
  return (fields, message) => {
    const now = Date.now()
    for (const [each, at] of told) if (now - at >= everyMs) told.delete(each)
    const line = JSON.stringify([message, fields])
    if (told.has(line)) return
    told.set(line, now)
    log.warn(fields, message)
  }
}
