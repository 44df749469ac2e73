import cluster, { type Worker } from 'node:cluster'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import type { SpooledTable } from '../../ingest/spool/layout.ts'
import type { ClickHouseAddress } from '../../platform/clickhouse/cluster.ts'
import type { WarnLog } from '../../platform/log.ts'
import { type Metrics, registry } from '../../platform/metrics.ts'
import { buildRoot } from '../../platform/paths.ts'
import { StartError } from '../../platform/startError.ts'
import type { Demo } from '../demo/demo.ts'

/** What a worker is told when it starts. */
export interface WorkerSetup {
  config: Config
  clickhouse: ClickHouseAddress
  postgresUrl: string
  /** How many its pool may open. */
  postgresConnectionsMax: number
  /** This worker's own. */
  spoolDirectory: string
  /** The earliest time, epoch milliseconds, that its events may say they were received. */
  receivedFrom: number
  /** Whether it writes this machine's copies of what PostgreSQL has (platform/keptCopy.ts). */
  keepsCopies: boolean
  /** What cursors are signed with; none where nothing is read. */
  cursorKey: Uint8Array
  demo: Demo | null
}

/** What the primary tells a worker. */
export type ToWorker =
  | { type: 'start'; setup: WorkerSetup }
  /** Say on /readyz that requests should go elsewhere, and go on answering. */
  | { type: 'drain' }
  /** Which stores cannot be reached, in words; null when both can. */
  | { type: 'stores'; away: string | null }
  | { type: 'stop' }
  /** Send the low mark of your events (Spool.lowMark). PostgreSQL's clock says at most `latestMs`; null: not known. */
  | { type: 'low mark'; request: string; latestMs: number | null; published: number }
  /** Send your numbers. */
  | { type: 'collect'; request: string }
  /** The numbers of all processes, which you asked for. */
  | { type: 'metrics'; request: string; all: Metrics[] }

/** What a worker tells the primary. */
export type FromWorker =
  /** Told first: what is sent to a worker before it listens is lost. */
  | { type: 'up' }
  | { type: 'ready' }
  | { type: 'failed'; message: string; isStartError: boolean }
  | { type: 'sealed'; table: SpooledTable; path: string }
  /** The disk of the spool is full. */
  | { type: 'no room' }
  | { type: 'low mark'; request: string; mark: number }
  | { type: 'collected'; request: string; metrics: Metrics }
  /** Send me the numbers of all processes. */
  | { type: 'metrics'; request: string }

export interface WorkersOptions {
  count: number
  setupOf(index: number): WorkerSetup
  /** Makes what a worker's predecessor left ready for it. */
  recover(index: number): Promise<void>
  onSealed(table: SpooledTable, path: string): void
  /** The disk of the spool is full. */
  onNoRoom(): void
  /** Brings the primary's own numbers up to date. */
  measure(): Promise<void>
  log: WarnLog
}

const restartMs = 250
const collectTimeoutMs = 2_000
const stopTimeoutMs = 15_000

export interface Workers {
  /**
   * The low marks of all workers, epoch milliseconds; null when one does not answer or is being replaced. Tells them
   * that PostgreSQL's clock says at most `latestMs`, and that readers have read all until `published`.
   */
  lowMarks(latestMs: number, published: number): Promise<number[] | null>
  /** From now on /readyz answers 503; everything else as before. */
  drain(): void
  /** Tells them, and those that will replace them, which stores cannot be reached. */
  tellStores(away: string | null): void
  /** Stops accepting, answers what is under way, commits and seals; then the processes are gone. */
  stop(): Promise<void>
}

/**
 * Runs the worker processes, which share the port: each takes beacons into a spool of its own and answers reads.
 * One that dies is replaced. Rejects with StartError when they cannot listen.
 */
export async function startWorkers(options: WorkersOptions): Promise<Workers> {
  cluster.setupPrimary({
    exec: join(buildRoot, 'collector/worker.js'),
    // Room for what a burst of beacons leaves behind: collected half as often, a fifth more events a second.
    // One thread copies the little of it that lives on: helpers that wait for a core hold up the event loop.
    execArgv: [
      ...process.execArgv,
      '--enable-source-maps',
      '--max-semi-space-size=32',
      '--no-parallel-scavenge',
    ],
    serialization: 'advanced',
  })
  let isStopping = false
  let isListening = false
  let storesAway: string | null = null
  const listening = firstOutcome()
  const running = new Map<number, Worker>()

  const start = async (index: number) => {
    await options.recover(index)
    const worker = cluster.fork()
    running.set(index, worker)
    worker.on('message', (message: FromWorker) => {
      if (message.type === 'up') {
        send(worker, { type: 'stores', away: storesAway })
        send(worker, { type: 'start', setup: options.setupOf(index) })
      }
      if (message.type === 'sealed') options.onSealed(message.table, message.path)
      if (message.type === 'no room') options.onNoRoom()
      if (message.type === 'metrics') void answerMetrics(worker, message.request)
      if (message.type === 'ready') {
        isListening = true
        listening.resolve()
      }
      if (message.type === 'failed') {
        if (isListening)
          options.log.warn({ worker: index, error: message.message }, 'a worker failed')
        listening.reject(
          message.isStartError ? new StartError(message.message) : new Error(message.message),
        )
      }
    })
    worker.once('exit', (code, signal) => {
      running.delete(index)
      if (isStopping) return
      options.log.warn({ worker: index, code, signal }, 'a worker ended; starting it again')
      restart(index)
    })
    return worker
  }

  const restart = (index: number) => {
    setTimeout(async () => {
      if (isStopping) return
      try {
        await start(index)
      } catch (error) {
        // Its directory cannot be made ready now: the disk is full, or its predecessor has not quite ended.
        options.log.warn(
          { worker: index, error: (error as Error).message },
          'a worker cannot start',
        )
        restart(index)
      }
    }, restartMs)
  }

  const answerMetrics = async (asker: Worker, request: string) => {
    await options.measure()
    const all = [await registry.getMetricsAsJSON()]
    await Promise.all(
      [...running.values()].map(async (worker) => {
        send(worker, { type: 'collect', request })
        const answer = await messageOf(worker, collectTimeoutMs, (message) =>
          message.type === 'collected' && message.request === request ? message : null,
        )
        if (answer) all.push(answer.metrics)
      }),
    )
    send(asker, { type: 'metrics', request, all })
  }

  const lowMarks: Workers['lowMarks'] = async (latestMs, published) => {
    if (running.size < options.count) return null
    const request = randomUUID()
    const marks = await Promise.all(
      [...running.values()].map((worker) => {
        send(worker, {
          type: 'low mark',
          request,
          published,
          latestMs: Number.isFinite(latestMs) ? latestMs : null,
        })
        return messageOf(worker, collectTimeoutMs, (message) =>
          message.type === 'low mark' && message.request === request ? message.mark : null,
        )
      }),
    )
    return marks.every((mark) => mark !== null) ? marks : null
  }

  const drain = () => {
    for (const worker of running.values()) send(worker, { type: 'drain' })
  }

  const tellStores = (away: string | null) => {
    storesAway = away
    for (const worker of running.values()) send(worker, { type: 'stores', away })
  }

  const stop = async () => {
    isStopping = true
    await Promise.all(
      [...running.values()].map(async (worker) => {
        if (worker.isDead()) return
        const timeout = setTimeout(() => worker.process.kill('SIGKILL'), stopTimeoutMs)
        send(worker, { type: 'stop' })
        await once(worker, 'exit')
        clearTimeout(timeout)
      }),
    )
  }

  try {
    await Promise.all(Array.from({ length: options.count }, (_, index) => start(index)))
    await listening.promise
  } catch (error) {
    await stop()
    throw error
  }
  return { lowMarks, drain, tellStores, stop }
}

/** Settled by the first worker that listens, or that says why it cannot; what comes later changes nothing. */
function firstOutcome() {
  let resolve = () => {}
  let reject = (_error: Error) => {}
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  // It may be settled before anybody waits for it.
  promise.catch(() => {})
  return { promise, resolve, reject }
}

/** Waits for a worker's message; null after `timeoutMs`. */
function messageOf<M>(
  worker: Worker,
  timeoutMs: number,
  pick: (message: FromWorker) => M | null,
): Promise<M | null> {
  return new Promise((resolve) => {
    const done = (found: M | null) => {
      clearTimeout(timer)
      worker.off('message', look)
      resolve(found)
    }
    const look = (message: FromWorker) => {
      const found = pick(message)
      if (found !== null) done(found)
    }
    const timer = setTimeout(() => done(null), timeoutMs)
    worker.on('message', look)
  })
}

/** A worker that is dying cannot be told anything, and need not be. */
function send(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, () => {})
}
