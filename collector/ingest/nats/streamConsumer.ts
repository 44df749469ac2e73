import { setTimeout as delay } from 'node:timers/promises'
import type { JsMsg, OrderedConsumerOptions } from '@nats-io/jetstream'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { Lease } from '../../platform/postgres/lease.ts'
import { Deduplicator } from '../shipper/deduplicator.ts'
import { ShipLeases } from '../shipper/shipLeases.ts'
import { type ShipObserver, Shipper } from '../shipper/shipper.ts'
import type { NatsLink } from './natsLink.ts'
import { leasesOfOwner } from './ownerLeases.ts'
import { beginStream, commitMessages, recordVerification, type Verification } from './progress.ts'
import { oldestAtOfRecord, StreamBatches } from './streamBatches.ts'
import { infoOf, type LogStream } from './streams.ts'

interface StreamConsumerOptions {
  link: NatsLink
  stream: LogStream
  owner: Lease
  postgresUrl: string
  collectorId: string
  clickhouse: ClickHouse
  deadLetterDirectory: string
  /** How long committed messages are kept, in case ClickHouse loses rows in a crash. */
  keepShippedMs: number
  observe: ShipObserver
  /** Called when the stream cannot be read; it is tried again. */
  failed(error: Error): void
}

/** A batch ends when it is this old and no earlier one waits… */
const batchMs = 400
/** …or this large. */
const batchBytesMax = 4 * 1024 * 1024
const fetchMessages = 200
/** NATS sends a heartbeat twice in this time. Without it, the client creates another consumer. */
const fetchMs = 2_000
const retryMs = 250
const purgeMs = 5_000

interface Opened {
  readonly batches: StreamBatches
  readonly shipper: Shipper
  /** The first message that was not read. */
  next: number
  /** The committed position when this machine became the owner. */
  readonly committed: number
  /** Messages up to here may have been inserted by the previous owner. */
  readonly uncertainUntil: number
}

/** The messages of a batch that still grows. */
interface GrowingBatch {
  readonly first: number
  readonly records: Uint8Array[]
  bytes: number
}

/**
 * Ships one stream of the log while this machine owns the log. It reads messages in their order, and passes them in
 * batches to a shipper. The shipper removes duplicates, inserts, and commits the positions.
 */
export class StreamConsumer {
  readonly #options: StreamConsumerOptions
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  #opened: Opened | null = null
  #batch: GrowingBatch | null = null
  #purgedAt = 0
  /** The start times of the servers that have all committed messages. */
  #starts: readonly number[] | null = null
  #recorded = ''

  constructor(options: StreamConsumerOptions) {
    this.#options = options
    this.#running = this.#run()
  }

  /** Verifies committed rows after a restart of ClickHouse, and records the result. Call it every second. */
  async check(): Promise<void> {
    if (!this.#opened) return
    const { shipper } = this.#opened
    await shipper.noticeRestart().catch(() => {})
    // Until then, what the previous owner recorded stays.
    if (!shipper.knowsDoubtful || !this.#hasReadCommitted) return
    const verification = { doubtfulFrom: shipper.doubtfulFrom, starts: this.#starts }
    await this.#record(verification)
  }

  /** Ships what is waiting for at most `timeoutMs`. Rows that no shipper has stay in the log. */
  async stop(timeoutMs: number): Promise<void> {
    this.#stopping.abort()
    await this.#running
    this.#batch = null
    await this.#opened?.shipper.stop(timeoutMs)
  }

  async #record(verification: Verification): Promise<void> {
    const { owner, stream } = this.#options
    const text = `${verification.doubtfulFrom} ${verification.starts}`
    if (text === this.#recorded) return
    await recordVerification(owner, stream.name, verification)
    this.#recorded = text
  }

  /** Whether the shipper has all messages that were committed when this machine became the owner. */
  get #hasReadCommitted(): boolean {
    const { next, committed } = this.#opened!
    return (this.#batch?.first ?? next) > committed
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        this.#opened ??= await this.#open()
        await this.#read(this.#opened, signal)
      } catch (error) {
        if (!signal.aborted) this.#options.failed(error as Error)
        await delay(retryMs, undefined, { signal }).catch(() => {})
      }
    }
  }

  async #open(): Promise<Opened> {
    const { link, stream, owner, clickhouse, postgresUrl, collectorId } = this.#options
    const { name, table } = stream
    const { manager } = await link.ready()
    const info = await infoOf(manager, name)
    if (!info) throw new Error(`the stream ${name} does not exist yet`)
    const { created } = info
    const firstSeq = Math.max(info.state.first_seq, 1)
    const { committed, starts } = await beginStream(owner, name, { created, firstSeq })
    const batches = new StreamBatches({
      stream: name,
      created,
      readAgain: (first, last) => readRange(link, name, first, last),
      commit: (from, to) => commitMessages(owner, name, from, to),
      purge: (to) => this.#purge(to),
    })
    const shared = table === 'events' ? new ShipLeases(postgresUrl, collectorId) : null
    const leases = leasesOfOwner(owner, name, shared)
    const shipper = new Shipper({
      clickhouse,
      table,
      batches,
      duplicates: shared && new Deduplicator(clickhouse, leases),
      leases,
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
    return { batches, shipper, next: firstSeq, committed, uncertainUntil: info.state.last_seq }
  }

  /** Reads until it is stopped or NATS fails. */
  async #read(opened: Opened, signal: AbortSignal): Promise<void> {
    const { link, stream } = this.#options
    for await (const message of messagesFrom(link, stream.name, opened.next, signal)) {
      this.#take(opened, message)
      opened.next = message.seq + 1
      await this.#waitForRoom(opened, signal)
      if (signal.aborted) return
    }
  }

  #take(opened: Opened, { seq, data }: JsMsg): void {
    // Committed messages are in batches of their own: they are only verified.
    if (this.#batch && this.#batch.first <= opened.committed && seq > opened.committed)
      this.#cut(opened, opened.committed)
    if (!this.#batch) {
      this.#batch = { first: opened.next, records: [], bytes: 0 }
      this.#cutLater(opened, this.#batch)
    }
    this.#batch.records.push(data)
    this.#batch.bytes += data.length
  }

  /** Cuts a batch after its time, unless it is cut by its size before. */
  #cutLater(opened: Opened, batch: GrowingBatch): void {
    setTimeout(() => {
      if (this.#batch !== batch) return
      if (opened.shipper.queued <= 1) this.#cut(opened, opened.next - 1)
      else this.#cutLater(opened, batch)
    }, batchMs)
  }

  /** Waits while enough rows wait in memory. */
  async #waitForRoom(opened: Opened, signal: AbortSignal): Promise<void> {
    if (!this.#batch || this.#batch.bytes < batchBytesMax) return
    while (opened.shipper.queued > 1 && !signal.aborted) await delay(10)
    if (this.#batch) this.#cut(opened, opened.next - 1)
  }

  /** Passes the current batch, whose messages end at `last`, to the shipper. */
  #cut({ batches, shipper, committed, uncertainUntil }: Opened, last: number): void {
    const { first, records } = this.#batch!
    this.#batch = null
    const isCommitted = last <= committed
    const oldestAt = records.map(oldestAtOfRecord).reduce((least, at) => Math.min(least, at))
    const position = batches.add(
      { first, last, records: isCommitted ? null : records, oldestAt },
      isCommitted,
    )
    if (first <= uncertainUntil) shipper.addUncertain([position])
    else shipper.add(position)
  }

  async #purge(to: number): Promise<void> {
    const { owner, link, stream } = this.#options
    if (performance.now() - this.#purgedAt < purgeMs || owner.signal.aborted) return
    this.#purgedAt = performance.now()
    await link.client?.manager.streams.purge(stream.name, { seq: to + 1 })
  }
}

/**
 * Yields the messages of a stream in their order, from `first` on, until `signal` aborts. The client creates its consumer
 * in NATS again when a message or a server is lost.
 */
async function* messagesFrom(
  link: NatsLink,
  stream: string,
  first: number,
  signal: AbortSignal,
): AsyncGenerator<JsMsg> {
  const { stream: jetStream } = await link.ready()
  const options: Partial<OrderedConsumerOptions> = { opt_start_seq: first }
  const consumer = await jetStream.consumers.get(stream, options)
  const messages = await consumer.consume({ max_messages: fetchMessages, expires: fetchMs })
  const stop = () => messages.stop()
  signal.addEventListener('abort', stop)
  try {
    if (signal.aborted) return
    yield* messages
  } finally {
    signal.removeEventListener('abort', stop)
    stop()
    // NATS deletes it later if this fails.
    consumer.delete().catch(() => {})
  }
}

/** How long `readRange` waits for its messages. */
const rangeMs = 5_000

async function readRange(
  link: NatsLink,
  stream: string,
  first: number,
  last: number,
): Promise<Uint8Array[]> {
  const records: Uint8Array[] = []
  for await (const { seq, data } of messagesFrom(
    link,
    stream,
    first,
    AbortSignal.timeout(rangeMs),
  )) {
    if (seq <= last) records.push(data)
    if (seq >= last) return records
  }
  throw new Error(`${stream} does not deliver the messages from ${first} to ${last}`)
}
