import { setTimeout as delay } from 'node:timers/promises'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { LeaseSource, ShipLease } from '../log/eventLog.ts'
import { Deduplicator } from '../shipper/deduplicator.ts'
import { type ShipObserver, Shipper } from '../shipper/shipper.ts'
import { MessageReader, type ReadMessage } from './messageReader.ts'
import type { NatsLink } from './natsLink.ts'
import { NatsPartition, oldestAtOfRecord } from './natsPartition.ts'
import type { PartitionLease, PartitionLeases, PartitionReport } from './partitionLeases.ts'
import { infoOf, type LogStream, partitionCondition } from './streams.ts'

export interface PartitionConsumerOptions {
  link: NatsLink
  stream: LogStream
  /** Number of the partitions of its table. */
  partitions: number
  lease: PartitionLease
  leases: PartitionLeases
  clickhouse: ClickHouse
  deadLetterDirectory: string
  /** How long committed messages are kept, in case ClickHouse loses rows in a crash. */
  keepShippedMs: number
  observe: ShipObserver
  /** How old a batch gets, in milliseconds. */
  batchMs(): number
  /** Called when the stream cannot be read; it is tried again. */
  failed(error: Error): void
}

/** A batch ends when it is this large, or `batchMs` old and no earlier one waits. */
const batchBytesMax = 4 * 1024 * 1024
const retryMs = 250
const restartCheckMs = 2_000
const purgeMs = 5_000
/** Ids of all partitions together fill the filters of one spool. */
const filterIds = 4_194_304

/**
 * Ships one partition of the log under its lease: reads messages in their order, combines them to batches, and passes
 * them to a shipper. The shipper removes duplicates, inserts, and commits the positions.
 */
export class PartitionConsumer {
  readonly #options: PartitionConsumerOptions
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  #shipper: Shipper | null = null
  /** Whether an insert of this owner or the previous one may be running. */
  #mayInsertsRun: boolean
  #batch: { first: number; messages: ReadMessage[]; bytes: number; since: number } | null = null
  #purgedAt = 0
  /** The start times of the servers that have all committed messages. */
  #starts: readonly number[] | null = null

  constructor(options: PartitionConsumerOptions) {
    this.#options = options
    this.#mayInsertsRun = options.lease.mayOtherInsertsRun
    this.#running = this.#run()
  }

  get lease(): PartitionLease {
    return this.#options.lease
  }

  /** Returns null until it knows which committed messages ClickHouse may have lost. */
  report(): PartitionReport | null {
    const { shipper } = this.#opened ?? {}
    if (!shipper?.knowsDoubtful || !this.#hasReadCommitted) return null
    return { doubtfulFrom: shipper.doubtfulFrom, starts: this.#starts }
  }

  /** Whether the shipper has all messages that were committed when the lease was acquired. */
  get #hasReadCommitted(): boolean {
    if (!this.#opened) return false
    const { next, committed } = this.#opened
    return Math.min(next, this.#batch?.first ?? Infinity) > committed
  }

  /** Ships what is waiting for at most `timeoutMs`, and releases the lease. */
  async stop(timeoutMs: number): Promise<void> {
    this.#stopping.abort()
    await this.#running
    // Rows that no shipper has stay in the log.
    this.#batch = null
    await this.#shipper?.stop(timeoutMs)
    await this.#options.leases.release(this.lease, !this.#mayInsertsRun).catch(() => {})
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        await this.#consume(signal)
      } catch (error) {
        if (!signal.aborted) this.#options.failed(error as Error)
        await delay(retryMs, undefined, { signal }).catch(() => {})
      }
    }
  }

  /** Reads until it is stopped or NATS fails. The shipper of an earlier call continues. */
  async #consume(signal: AbortSignal): Promise<void> {
    this.#opened ??= await this.#open()
    const opened = this.#opened
    // The stream does not exist yet. Its creation reports what fails.
    if (!opened) return void (await delay(retryMs, undefined, { signal }).catch(() => {}))
    const reader = new MessageReader(this.#options.link, this.#options.stream.name, opened.next)
    try {
      while (!signal.aborted) {
        for await (const message of reader.read()) {
          this.#take(opened, message)
          opened.next = message.seq + 1
          await this.#waitForRoom(opened, signal)
          if (signal.aborted) break
        }
      }
    } finally {
      reader.close()
    }
  }

  #opened: Opened | null = null

  async #open(): Promise<Opened | null> {
    const { link, stream, lease, leases, clickhouse, partitions } = this.#options
    const { manager } = await link.ready()
    const info = await infoOf(manager, stream.name)
    if (!info) return null
    const { first_seq, last_seq } = info.state
    const created = info.created
    const { committed, starts } = await leases.begin(lease, created, Math.max(first_seq, 1))
    const partition = new NatsPartition({
      stream: stream.name,
      streamCreated: created,
      readAgain: (first, last) => readRange(link, stream.name, first, last),
      commit: (from, to) => leases.commit(lease, from, to),
      purge: (to) => this.#purge(to),
    })
    const source = this.#leaseSource()
    this.#shipper = new Shipper({
      clickhouse,
      table: stream.table,
      partition,
      duplicates:
        stream.table === 'events'
          ? new Deduplicator(clickhouse, source, Date.now, {
              sliceIds: Math.ceil(filterIds / partitions),
              condition: {
                sql: partitionCondition.sql,
                params: partitionCondition.paramsOf(stream.partition, partitions),
              },
            })
          : null,
      leases: source,
      deadLetterDirectory: this.#options.deadLetterDirectory,
      keepShippedMs: this.#options.keepShippedMs,
      verified: {
        before: starts,
        note: (verified) => {
          if (this.#hasReadCommitted) this.#starts = verified
        },
      },
      observe: this.#options.observe,
    })
    return {
      partition,
      shipper: this.#shipper,
      next: Math.max(first_seq, 1),
      committed,
      uncertainUntil: last_seq,
      checkedAt: performance.now(),
    }
  }

  /** Adds a message to the current batch. */
  #take(opened: Opened, message: ReadMessage): void {
    // Committed messages are in batches of their own: they are only verified.
    if (this.#batch && this.#batch.first <= opened.committed && message.seq > opened.committed)
      this.#cut(opened, opened.committed)
    this.#batch ??= { first: opened.next, messages: [], bytes: 0, since: performance.now() }
    this.#batch.messages.push(message)
    this.#batch.bytes += message.record.length
    if (this.#batch.messages.length === 1) this.#cutLater(opened)
  }

  /** Cuts the current batch after its time, unless it is cut by its size before. */
  #cutLater(opened: Opened): void {
    const batchMs = this.#options.batchMs()
    const batch = this.#batch
    setTimeout(() => {
      if (!batch || this.#batch !== batch || this.#opened !== opened) return
      const isDue = performance.now() - batch.since >= batchMs - 1
      if (isDue && (opened.shipper.queued <= 1 || this.#stopping.signal.aborted))
        this.#cut(opened, opened.next - 1)
      else this.#cutLater(opened)
    }, batchMs)
  }

  /** Waits while enough rows wait in memory. */
  async #waitForRoom(opened: Opened, signal: AbortSignal): Promise<void> {
    if (!this.#batch || this.#batch.bytes < batchBytesMax) return
    while (opened.shipper.queued > 1 && !signal.aborted) await delay(10)
    if (this.#batch) this.#cut(opened, opened.next - 1)
  }

  /** Passes the current batch, whose messages end at `last`, to the shipper. */
  #cut(opened: Opened, last: number): void {
    const { first, messages } = this.#batch!
    this.#batch = null
    const { partition, shipper, committed, uncertainUntil } = opened
    const isCommitted = last <= committed
    const records = messages.map(({ record }) => record)
    const position = partition.add(
      {
        first,
        last,
        records: isCommitted ? null : records,
        oldestAt: records.reduce(
          (least, record) => Math.min(least, oldestAtOfRecord(record)),
          Infinity,
        ),
      },
      isCommitted,
    )
    if (first <= uncertainUntil) shipper.addUncertain([position])
    else shipper.add(position)
  }

  /** Verifies committed rows after a restart of ClickHouse. Call it every second. */
  async check(): Promise<void> {
    const opened = this.#opened
    if (!opened || performance.now() - opened.checkedAt < restartCheckMs) return
    opened.checkedAt = performance.now()
    await opened.shipper.noticeRestart().catch(() => {})
  }

  /** The lease of the partition lasts, so a batch has its share of it at once. */
  #leaseSource(): LeaseSource {
    const { lease, stream } = this.#options
    return {
      batchPrefix: `${stream.name}.`,
      acquire: async (): Promise<ShipLease> => {
        if (!lease.isHeld()) throw new Error(`the lease of ${stream.name} is not held`)
        const mayOtherInsertsRun = this.#mayInsertsRun
        this.#mayInsertsRun = true
        return {
          idsOfOthers: new Uint32Array(),
          mayOtherInsertsRun,
          acquiredAt: Date.now(),
          isHeld: lease.isHeld,
          release: async () => {
            this.#mayInsertsRun = false
          },
          abandon: () => {},
        }
      },
      close: () => {},
    }
  }

  async #purge(to: number): Promise<void> {
    if (performance.now() - this.#purgedAt < purgeMs || !this.lease.isHeld()) return
    this.#purgedAt = performance.now()
    await this.#options.link.client?.manager.streams.purge(this.#options.stream.name, {
      seq: to + 1,
    })
  }
}

interface Opened {
  partition: NatsPartition
  shipper: Shipper
  /** The first message that was not read. */
  next: number
  /** The committed position when the lease was acquired. */
  committed: number
  /** Messages up to here may have been inserted by the previous owner. */
  uncertainUntil: number
  checkedAt: number
}

async function readRange(
  link: NatsLink,
  stream: string,
  first: number,
  last: number,
): Promise<Uint8Array[]> {
  const records: Uint8Array[] = []
  const reader = new MessageReader(link, stream, first)
  try {
    for (let next = first; next <= last; ) {
      let received = 0
      for await (const { seq, record } of reader.read()) {
        next = seq + 1
        if (seq > last) break
        received++
        records.push(record)
      }
      if (received === 0 && next <= last)
        throw new Error(`${stream} does not deliver message ${next}`)
    }
    return records
  } finally {
    reader.close()
  }
}
