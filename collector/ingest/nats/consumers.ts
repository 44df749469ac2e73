import type { NatsSettings } from '../../config.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { WarnLog } from '../../platform/log.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { runEvery } from '../../platform/runEvery.ts'
import type { ShipObserver } from '../shipper/shipper.ts'
import type { SpooledTable } from '../spool/layout.ts'
import type { NatsLink } from './natsLink.ts'
import { PartitionConsumer } from './partitionConsumer.ts'
import { type PartitionLease, PartitionLeases, type PartitionReport } from './partitionLeases.ts'
import { allStreams, type LogStream, partitionCount } from './streams.ts'

export interface ConsumersOptions {
  link: NatsLink
  settings: NatsSettings
  postgres: Postgres
  clickhouse: ClickHouse
  /** Identifies this machine among those that consume. */
  consumerId: string
  deadLetterDirectory: string
  keepShippedMs: number
  observe(table: SpooledTable): ShipObserver
  log: WarnLog
}

const renewMs = 1_000
/**
 * An insert costs ClickHouse the same for few rows as for many. So the batches of a machine are older if it owns more
 * partitions: together they are at most ten inserts a second.
 */
const batchMsMin = 400
const batchMsOfPartition = 100

/** Consumes this machine’s share of all partitions, and follows changes of the share. */
export class Consumers {
  readonly #options: ConsumersOptions
  readonly #streams: ReadonlyMap<string, LogStream>
  readonly #leases: PartitionLeases
  readonly #consumers = new Map<string, PartitionConsumer>()
  readonly #observers = new Map<SpooledTable, ShipObserver>()
  readonly #stopping = new Set<Promise<void>>()
  readonly #renewing: { stop(): Promise<void> }
  #isPrepared = false

  constructor(options: ConsumersOptions) {
    this.#options = options
    this.#streams = new Map(allStreams(options.settings).map((stream) => [stream.name, stream]))
    this.#leases = new PartitionLeases(options.postgres, options.consumerId, [
      ...this.#streams.keys(),
    ])
    this.#renewing = runEvery(
      renewMs,
      () => this.#renew(),
      (error) => options.log.warn({ error: error.message }, 'the log is not consumed'),
    )
  }

  /** Names of the streams that this machine consumes. */
  get owned(): string[] {
    return [...this.#consumers.keys()]
  }

  /** Ships what is in memory for at most `timeoutMs`, and releases the partitions to other machines. */
  async stop(timeoutMs: number): Promise<void> {
    await this.#renewing.stop()
    await Promise.all([...this.#consumers.values()].map((consumer) => consumer.stop(timeoutMs)))
    this.#consumers.clear()
    await Promise.all(this.#stopping)
    await this.#leases.leave().catch(() => {})
  }

  async #renew(): Promise<void> {
    if (!this.#isPrepared) await this.#leases.prepare()
    this.#isPrepared = true
    const reports = new Map<string, PartitionReport>()
    for (const [name, consumer] of this.#consumers) {
      const report = consumer.report()
      if (report) reports.set(name, report)
    }
    const share = await this.#leases.renew(reports)
    for (const [name, consumer] of this.#consumers)
      if (!consumer.lease.isHeld()) this.#release(name, consumer, 0)
    for (const [name, consumer] of [...this.#consumers].slice(share))
      this.#release(name, consumer, releaseMs)
    for (const lease of await this.#leases.acquire(share - this.#consumers.size)) this.#start(lease)
    await Promise.all([...this.#consumers.values()].map((consumer) => consumer.check()))
  }

  #start(lease: PartitionLease): void {
    const { link, settings, clickhouse, deadLetterDirectory, keepShippedMs, log } = this.#options
    const stream = this.#streams.get(lease.stream)!
    const consumer = new PartitionConsumer({
      link,
      stream,
      partitions: partitionCount(stream.table, settings),
      lease,
      leases: this.#leases,
      clickhouse,
      deadLetterDirectory,
      keepShippedMs,
      observe: this.#observerOf(stream.table),
      batchMs: () => Math.max(batchMsMin, this.#consumers.size * batchMsOfPartition),
      failed: (error) =>
        log.warn({ stream: stream.name, error: error.message }, 'the log cannot be read'),
    })
    this.#consumers.set(lease.stream, consumer)
  }

  /** Stops a consumer without delaying the renewal of the other leases. */
  #release(name: string, consumer: PartitionConsumer, timeoutMs: number): void {
    this.#consumers.delete(name)
    const stopping = consumer.stop(timeoutMs).finally(() => this.#stopping.delete(stopping))
    this.#stopping.add(stopping)
  }

  #observerOf(table: SpooledTable): ShipObserver {
    const existing = this.#observers.get(table)
    if (existing) return existing
    const observer = this.#options.observe(table)
    this.#observers.set(table, observer)
    return observer
  }
}

/** How long a partition that moves to another machine ships what is in memory. */
const releaseMs = 3_000
