import { setTimeout as delay } from 'node:timers/promises'
import type { NatsSettings } from '../../config.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { Log } from '../../platform/log.ts'
import { logUp } from '../../platform/metrics.ts'
import { type Lease, LeaseHeldError, withLease } from '../../platform/postgres/lease.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { runEvery } from '../../platform/runEvery.ts'
import { seldomLog } from '../../platform/seldomLog.ts'
import type { ShipObserver } from '../shipper/shipper.ts'
import { keepShippedMs } from '../shipper/shippers.ts'
import type { SpooledTable } from '../spool/layout.ts'
import { type NatsLink, openNatsLink } from './natsLink.ts'
import { readProgress } from './progress.ts'
import { StreamConsumer } from './streamConsumer.ts'
import { allStreams, ensureStreams, infoOf, streamOf } from './streams.ts'

interface NatsShippingOptions {
  settings: NatsSettings
  postgres: { readonly pool: Postgres; readonly url: string }
  clickhouse: ClickHouse
  collectorId: string
  deadLetterDirectory: string
  observe(table: SpooledTable): ShipObserver
  log: Log
}

/** Interval of the tries to become the owner, and of the owner’s checks. */
const checkMs = 1_000
const pollMs = 100
const stopMs = 5_000

/** A machine’s part of the log in NATS. One machine at a time, the owner, consumes all streams. */
export interface NatsShipping {
  readonly link: NatsLink
  readonly isOwner: boolean
  measure(): void
  /**
   * Returns until when ClickHouse has all events that this machine wrote to the log; null until that is known. Until
   * `mark`, its workers wrote them at `position` or earlier.
   */
  storedUntil(mark: number, position: number): Promise<number | null>
  /** Resolves with whether ClickHouse has all events of the log. */
  stop(): Promise<boolean>
}

/** The name of the lease (platform/postgres/lease.ts) that the owner of the log holds. */
export const ownerLease = ({ prefix }: Pick<NatsSettings, 'prefix'>): string => `log ${prefix}`

export async function openNatsShipping(options: NatsShippingOptions): Promise<NatsShipping> {
  const { settings, postgres } = options
  const log = seldomLog(options.log)
  const link = await openNatsLink(settings.servers)
  const events = streamOf('events', settings).name
  const consumed = new ConsumedMark()
  const stopping = new AbortController()
  let isOwner = false
  let hasStreams = false
  const warn = (error: Error) => {
    if (!(error instanceof LeaseHeldError || stopping.signal.aborted))
      log.warn({ error: reasonOf(error) }, 'the log is not consumed')
  }
  const own = async (owner: Lease) => {
    const consumers = openConsumers(options, owner, link, (stream, error) =>
      log.warn({ stream, error: error.message }, 'the log cannot be read'),
    )
    isOwner = true
    try {
      while (!stopping.signal.aborted && !owner.signal.aborted) {
        await delay(checkMs, undefined, { signal: stopping.signal }).catch(() => {})
        await Promise.all(consumers.map((consumer) => consumer.check().catch(warn)))
      }
    } finally {
      isOwner = false
      const timeoutMs = owner.signal.aborted ? 0 : stopMs
      await Promise.all(consumers.map((consumer) => consumer.stop(timeoutMs)))
    }
  }
  const consuming = runEvery(
    checkMs,
    async () => {
      if (!hasStreams) await ensureStreams((await link.ready()).manager, settings)
      hasStreams = true
      await withLease(postgres.pool, ownerLease(settings), own)
    },
    warn,
  )
  return {
    link,
    get isOwner() {
      return isOwner
    },
    measure: () => logUp.set({ log: 'nats' }, link.client ? 1 : 0),
    async storedUntil(mark, position) {
      consumed.note(mark, Math.max(position, await lastPosition(link, events)))
      const { committed, doubtfulFrom } = await readProgress(postgres.pool, events)
      const reached = consumed.read(committed)
      return reached && Math.min(reached, doubtfulFrom)
    },
    async stop() {
      const isComplete = await Promise.race([
        isConsumed(link, postgres.pool, events, stopping.signal),
        delay(stopMs, false),
      ])
      stopping.abort()
      // A machine that waits for the first connection ends with it.
      if (!link.client) await link.close()
      await consuming.stop()
      await link.close()
      return isComplete
    },
  }
}

const openConsumers = (
  {
    settings,
    postgres,
    clickhouse,
    collectorId,
    deadLetterDirectory,
    observe,
  }: NatsShippingOptions,
  owner: Lease,
  link: NatsLink,
  failed: (stream: string, error: Error) => void,
): StreamConsumer[] =>
  allStreams(settings).map(
    (stream) =>
      new StreamConsumer({
        link,
        stream,
        owner,
        postgresUrl: postgres.url,
        collectorId,
        clickhouse,
        deadLetterDirectory,
        keepShippedMs,
        observe: observe(stream.table),
        failed: (error) => failed(stream.name, error),
      }),
  )

async function lastPosition({ client }: NatsLink, stream: string): Promise<number> {
  const info = client && (await infoOf(client.manager, stream))
  if (!info) throw new Error('NATS is unavailable')
  return info.state.last_seq
}

/** Waits until the owner has committed everything that is in the stream now. */
async function isConsumed(
  link: NatsLink,
  postgres: Postgres,
  stream: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const last = await lastPosition(link, stream)
    while (!signal.aborted) {
      const { committed, doubtfulFrom } = await readProgress(postgres, stream)
      if (committed >= last) return doubtfulFrom === Infinity
      await delay(pollMs)
    }
  } catch {
    // NATS or PostgreSQL is unavailable.
  }
  return false
}

/** Adds what to do to NATS’s message about a server without a cluster. */
const reasonOf = ({ message }: Error): string =>
  message.includes('non-clustered')
    ? `${message}. Connect three servers to a cluster, or set FOOTFALL_LOG_REPLICAS=1`
    : message

/** How many moments are remembered at most, while the shipper is behind. */
const momentsMax = 120

/** Until `mark`, a machine has written all its rows to the log, at `position` or earlier. */
interface Moment {
  mark: number
  position: number
}

/** Finds the time until which ClickHouse has all rows that a machine wrote to the log. */
export class ConsumedMark {
  #reached: number | null = null
  #moments: Moment[] = []

  note(mark: number, position: number): void {
    this.#moments.push({ mark, position })
    // Others may be forgotten, at the cost of precision only. The newest one stays.
    if (this.#moments.length > momentsMax)
      this.#moments = this.#moments.filter((_, at) => at % 2 === 1 || at > momentsMax - 2)
  }

  /** Returns the mark of the latest moment whose position is committed; null if none is. */
  read(committed: number): number | null {
    for (let next = this.#moments[0]; next && next.position <= committed; next = this.#moments[0]) {
      this.#reached = next.mark
      this.#moments.shift()
    }
    return this.#reached
  }
}
