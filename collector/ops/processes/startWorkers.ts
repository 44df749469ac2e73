import cluster, { type Worker } from 'node:cluster'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import type { LowMark } from '../../ingest/shipper/watermark.ts'
import type { SpooledTable } from '../../ingest/spool/layout.ts'
import type { WarnLog } from '../../platform/log.ts'
import { registry } from '../../platform/metrics.ts'
import { buildRoot } from '../../platform/paths.ts'
import { StartError } from '../../platform/startError.ts'
import type { FromWorker, ToWorker, WorkerSetup } from './messages.ts'

interface WorkersOptions {
  count: number
  setupOf(index: number): WorkerSetup
  recover(index: number): Promise<void>
  onSealed(table: SpooledTable, path: string): void
  onNoRoom(): void
  /** Updates the primary's own metrics. */
  measure(): Promise<void>
  log: WarnLog
}

const restartMs = 250
const collectTimeoutMs = 2_000
const stopTimeoutMs = 15_000

export interface Workers {
  /**
   * Returns the low marks of all workers; null if one does not answer or is being replaced. It also sends the workers the
   * latest time of PostgreSQL's clock, `latestMs`, and the published watermark.
   */
  lowMarks(latestMs: number, published: number): Promise<LowMark[] | null>
  /** Makes /readyz answer 503; other requests are answered as before. */
  drain(): void
  /** Reports the unavailable stores to current and future workers. */
  tellStores(away: string | null): void
  /** Stops accepting connections, answers current requests, commits and seals; then the processes end. */
  stop(): Promise<void>
}

/**
 * Runs the worker processes, which share the port: each writes beacons to its own spool and answers reads. A
 * worker that dies is replaced. Rejects with StartError if the workers cannot listen.
 */
export async function startWorkers(options: WorkersOptions): Promise<Workers> {
  cluster.setupPrimary({
    exec: join(buildRoot, 'collector/worker.js'),
    // Memory for the garbage of a burst of beacons: half as many collections and a fifth more events a
    // second. One thread copies the few survivors, because helper threads that wait for a core block the
    // event loop.
    execArgv: [
      ...process.execArgv,
      '--enable-source-maps',
      '--max-semi-space-size=32',
      '--no-parallel-scavenge',
    ],
    serialization: 'advanced',
  })
  const pool = new WorkerPool(options)
  await pool.start()
  return pool
}

class WorkerPool implements Workers {
  #options
  #running = new Map<number, Worker>()
  #listening = firstOutcome()
  #isListening = false
  #isStopping = false
  #storesAway: string | null = null

  constructor(options: WorkersOptions) {
    this.#options = options
  }

  /** Resolves when the first worker listens. */
  async start(): Promise<void> {
    const { count } = this.#options
    try {
      await Promise.all(Array.from({ length: count }, (_, index) => this.#fork(index)))
      await this.#listening.promise
    } catch (error) {
      await this.stop()
      throw error
    }
  }

  async lowMarks(latestMs: number, published: number): Promise<LowMark[] | null> {
    if (this.#running.size < this.#options.count) return null
    const request = randomUUID()
    const marks = await Promise.all(
      [...this.#running.values()].map((worker) => {
        send(worker, {
          type: 'low mark',
          request,
          published,
          latestMs: Number.isFinite(latestMs) ? latestMs : null,
        })
        return messageOf(worker, collectTimeoutMs, (message) =>
          message.type === 'low mark' && message.request === request ? message : null,
        )
      }),
    )
    return marks.every((mark) => mark !== null) ? marks : null
  }

  drain(): void {
    for (const worker of this.#running.values()) send(worker, { type: 'drain' })
  }

  tellStores(away: string | null): void {
    this.#storesAway = away
    for (const worker of this.#running.values()) send(worker, { type: 'stores', away })
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all(
      [...this.#running.values()].map(async (worker) => {
        if (worker.isDead()) return
        const timeout = setTimeout(() => worker.process.kill('SIGKILL'), stopTimeoutMs)
        send(worker, { type: 'stop' })
        await once(worker, 'exit')
        clearTimeout(timeout)
      }),
    )
  }

  async #fork(index: number): Promise<void> {
    await this.#options.recover(index)
    const worker = cluster.fork()
    this.#running.set(index, worker)
    worker.on('message', (message: FromWorker) => this.#hear(index, worker, message))
    worker.once('exit', (code, signal) => {
      this.#running.delete(index)
      if (this.#isStopping) return
      this.#options.log.warn({ worker: index, code, signal }, 'a worker ended; starting it again')
      this.#forkAgain(index)
    })
  }

  #forkAgain(index: number): void {
    setTimeout(async () => {
      if (this.#isStopping) return
      try {
        await this.#fork(index)
      } catch (error) {
        // The directory cannot be prepared now: the disk is full, or the predecessor is still ending.
        this.#options.log.warn(
          { worker: index, error: (error as Error).message },
          'a worker cannot start',
        )
        this.#forkAgain(index)
      }
    }, restartMs)
  }

  #hear(index: number, worker: Worker, message: FromWorker): void {
    const { setupOf, onSealed, onNoRoom, log } = this.#options
    switch (message.type) {
      case 'up':
        send(worker, { type: 'stores', away: this.#storesAway })
        send(worker, { type: 'start', setup: setupOf(index) })
        break
      case 'ready':
        this.#isListening = true
        this.#listening.resolve()
        break
      case 'failed': {
        const { message: reason, isStartError } = message
        if (this.#isListening) log.warn({ worker: index, error: reason }, 'a worker failed')
        this.#listening.reject(isStartError ? new StartError(reason) : new Error(reason))
        break
      }
      case 'sealed':
        onSealed(message.table, message.path)
        break
      case 'no room':
        onNoRoom()
        break
      case 'metrics':
        void this.#answerMetrics(worker, message.request)
    }
  }

  async #answerMetrics(asker: Worker, request: string): Promise<void> {
    await this.#options.measure()
    const all = [await registry.getMetricsAsJSON()]
    await Promise.all(
      [...this.#running.values()].map(async (worker) => {
        send(worker, { type: 'collect', request })
        const answer = await messageOf(worker, collectTimeoutMs, (message) =>
          message.type === 'collected' && message.request === request ? message : null,
        )
        if (answer) all.push(answer.metrics)
      }),
    )
    send(asker, { type: 'metrics', request, all })
  }
}

/** The result of the first worker that listens or reports a failure; later results change nothing. */
function firstOutcome() {
  let resolve = () => {}
  let reject = (_error: Error) => {}
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  // The promise may reject before anybody awaits it.
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

/** A dying worker cannot receive messages and needs none. */
function send(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, () => {})
}
