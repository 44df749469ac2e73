import { setTimeout as delay } from 'node:timers/promises'
import type { NatsSettings } from '../../config.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { Log, WarnLog } from '../../platform/log.ts'
import { logPartitions, logUp } from '../../platform/metrics.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { seldomLog } from '../../platform/seldomLog.ts'
import type { ShipObserver } from '../shipper/shipper.ts'
import { keepShippedMs, type SegmentShippers } from '../shipper/shippers.ts'
import type { SpooledTable } from '../spool/layout.ts'
import { Consumers } from './consumers.ts'
import { Forwarder } from './forwarder.ts'
import type { NatsLink } from './natsLink.ts'
import { openNatsLink } from './natsLink.ts'
import { type LogProgress, readProgress } from './partitionLeases.ts'
import { ensureStreams, infoOf, streamsOf } from './streams.ts'

export interface NatsShippingOptions {
  settings: NatsSettings
  postgres: Postgres
  clickhouse: ClickHouse
  /** Identifies this machine among those that consume; null: it consumes nothing. */
  consumerId: string | null
  deadLetterDirectory: string
  observe(table: SpooledTable): ShipObserver
  log: Log
}

const retryMs = 1_000
const pollMs = 100
const stopMs = 5_000

/** A machine’s part of the log in NATS: it forwards its spools, and consumes its share of the partitions. */
export interface NatsShipping {
  /** Take the segments of the spools. */
  readonly forwarders: SegmentShippers
  readonly link: NatsLink
  /** Updates the metrics. */
  measure(): void
  /** Names of the streams that this machine consumes. */
  owned(): string[]
  /** Reads how far the events are, and tells the forwarder. */
  readProgress(): Promise<LogProgress>
  /** Resolves with whether ClickHouse has all events that this machine received. */
  stop(): Promise<boolean>
}

export async function openNatsShipping(options: NatsShippingOptions): Promise<NatsShipping> {
  const { settings, postgres, clickhouse, consumerId, deadLetterDirectory, observe } = options
  const log = seldomLog(options.log)
  const link = await openNatsLink(settings.servers)
  const stopping = new AbortController()
  void createStreams(link, settings, log, stopping.signal)
  const forwarderOf = (table: SpooledTable) =>
    new Forwarder({
      link,
      table,
      streams: streamsOf(table, settings),
      deadLetterDirectory,
      observe: observe(table),
    })
  const events = forwarderOf('events')
  const forwarders = {
    events,
    rejected_events: forwarderOf('rejected_events'),
    identity_links: forwarderOf('identity_links'),
  }
  const consumers =
    consumerId === null
      ? null
      : new Consumers({
          link,
          settings,
          postgres,
          clickhouse,
          consumerId,
          deadLetterDirectory,
          keepShippedMs,
          observe,
          log,
        })
  const names = streamsOf('events', settings).map(({ name }) => name)
  return {
    forwarders,
    link,
    measure() {
      logUp.set({ log: 'nats' }, link.client ? 1 : 0)
      logPartitions.set(consumers?.owned.length ?? 0)
    },
    owned: () => consumers?.owned ?? [],
    async readProgress() {
      const progress = await readProgress(postgres, names)
      events.noteCommitted(progress.committed)
      return progress
    },
    async stop() {
      await Promise.all(Object.values(forwarders).map((forwarder) => forwarder.stop(stopMs)))
      const isComplete = await Promise.race([
        isConsumed(link, postgres, names, stopping.signal),
        delay(stopMs, false),
      ])
      stopping.abort()
      // A consumer that waits for the first connection ends with it.
      if (!link.client) await link.close()
      await consumers?.stop(stopMs)
      await link.close()
      return isComplete && Object.values(forwarders).every(({ backlog }) => backlog === 0)
    },
  }
}

/** Waits until the shippers have committed everything that is in these streams now. */
async function isConsumed(
  link: NatsLink,
  postgres: Postgres,
  names: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  try {
    if (!link.client) return false
    const { manager } = link.client
    const infos = await Promise.all(names.map((name) => infoOf(manager, name)))
    while (!signal.aborted) {
      const { committed, doubtfulFrom } = await readProgress(postgres, names)
      const isDone = infos.every((info, at) => !info || info.state.last_seq <= committed[at]!)
      if (isDone) return doubtfulFrom === Infinity
      await delay(pollMs)
    }
  } catch {
    // NATS or PostgreSQL is unavailable.
  }
  return false
}

/** Creates the streams as soon as NATS is available. */
async function createStreams(
  link: NatsLink,
  settings: NatsSettings,
  log: WarnLog,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const { manager } = await link.ready()
      await ensureStreams(manager, settings)
      return
    } catch (error) {
      if (signal.aborted) return
      log.warn({ error: reasonOf(error as Error) }, 'the streams of NATS are not ready')
      await delay(retryMs, undefined, { signal }).catch(() => {})
    }
  }
}

/** Adds what to do to NATS’s message about a server without a cluster. */
const reasonOf = ({ message }: Error): string =>
  message.includes('non-clustered')
    ? `${message}. Connect three servers to a cluster, or set FOOTFALL_LOG_REPLICAS=1`
    : message
