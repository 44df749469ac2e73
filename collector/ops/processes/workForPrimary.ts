import { randomUUID } from 'node:crypto'
import type { EventLog } from '../../ingest/log/eventLog.ts'
import type { SpooledTable } from '../../ingest/spool/layout.ts'
import { aggregateMetrics, registry } from '../../platform/metrics.ts'
import { createSharedClock, type SharedClock } from '../../platform/sharedClock.ts'
import { operatorLine } from '../../platform/startError.ts'
import type { FromWorker, ToWorker, WorkerSetup } from './messages.ts'

export interface Primary {
  /** PostgreSQL's clock, as last compared by the primary. */
  readonly clock: SharedClock
  /**
   * Returns the reason why this worker should receive no requests now: the service drains, or a required
   * store is unavailable.
   */
  notReady(): string | null
  /** Collects the metrics of all processes of this machine, as Prometheus text. */
  metrics(): Promise<string>
  /** Reports a sealed segment, which the primary then ships. */
  sealed(table: SpooledTable, path: string): void
  noRoom(): void
  /** From now on, answers the primary's requests for a low mark from this log. */
  reportLowMarkOf(events: EventLog): void
}

/** Starts a worker. Resolves, once the worker listens, with the function that stops it in order. */
type StartWork = (setup: WorkerSetup, primary: Primary) => Promise<() => Promise<void>>

const tell = (message: FromWorker) => process.send?.(message)

/**
 * Makes this process a worker of the primary that forked it: calls `startWork` with the setup, and answers
 * messages.
 */
export function workForPrimary(startWork: StartWork): void {
  const clock = createSharedClock()
  const metricsAsked = new Map<string, (text: Promise<string>) => void>()
  let events: EventLog | null = null
  let isDraining = false
  let storesAway: string | null = null
  let stop: (() => Promise<void>) | null = null

  const primary: Primary = {
    clock,
    notReady: () => (isDraining ? 'the service is draining before it stops' : storesAway),
    metrics() {
      const request = randomUUID()
      tell({ type: 'metrics', request })
      return new Promise((resolve) => metricsAsked.set(request, resolve))
    },
    sealed: (table, path) => tell({ type: 'sealed', table, path }),
    noRoom: () => tell({ type: 'no room' }),
    reportLowMarkOf(spool) {
      events = spool
    },
  }

  process.on('message', async (message: ToWorker) => {
    switch (message.type) {
      case 'start':
        stop = await startOrFail(() => startWork(message.setup, primary))
        break
      case 'collect': {
        const metrics = await registry.getMetricsAsJSON()
        tell({ type: 'collected', request: message.request, metrics })
        break
      }
      case 'low mark':
        clock.note(message.latestMs ?? Infinity)
        // The worker has not read its spool yet, so it does not answer.
        if (!events) break
        events.notePublished(message.published)
        tell({
          type: 'low mark',
          request: message.request,
          mark: events.lowMark(),
          position: events.position,
        })
        break
      case 'metrics':
        metricsAsked.get(message.request)?.(aggregateMetrics(message.all))
        metricsAsked.delete(message.request)
        break
      case 'drain':
        isDraining = true
        break
      case 'stores':
        storesAway = message.away
        break
      case 'stop':
        await stop?.()
        process.exit(0)
    }
  })
  // A Ctrl-C reaches all processes of the group: the primary stops its workers in order.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  tell({ type: 'up' })
}

/**
 * Reports the result of a start. After a failure this process ends; the primary replaces it, except at the
 * first start.
 */
async function startOrFail(
  start: () => Promise<() => Promise<void>>,
): Promise<(() => Promise<void>) | null> {
  try {
    const stop = await start()
    tell({ type: 'ready' })
    return stop
  } catch (error) {
    const line = operatorLine(error as Error)
    const failed = {
      type: 'failed',
      message: line ?? String((error as Error).stack),
      isStartError: line !== null,
    } satisfies FromWorker
    process.send?.(failed, () => process.exit(1))
    return null
  }
}
