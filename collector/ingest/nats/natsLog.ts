import { setTimeout as delay } from 'node:timers/promises'
import type { NatsSettings } from '../../config.ts'
import { logFallbackRows } from '../../platform/metrics.ts'
import { uuidV7 } from '../../platform/uuidV7.ts'
import { type EventLog, LogUnavailable } from '../log/eventLog.ts'
import { FrameEncoder } from '../spool/frame.ts'
import type { Spool } from '../spool/spool.ts'
import { ConsumedMark } from './consumedMark.ts'
import type { NatsLink } from './natsLink.ts'
import { publish } from './publish.ts'
import { infoOf, type LogStream, partitionOf } from './streams.ts'

export interface NatsLogOptions {
  link: NatsLink
  streams: readonly LogStream[]
  whenAway: NatsSettings['whenAway']
  /** The worker's spool: it has the clock, and keeps rows while NATS is unavailable. */
  spool: Spool
  /** The earliest `received_at` of new rows, epoch milliseconds. */
  receivedFrom: number
  /** Called after each commit. */
  onCommit?: (rows: number) => void
}

/** Rows of one call of `append` for one partition. */
interface Appended {
  rows: readonly string[]
  receivedAt: number
  resolve: () => void
  reject: (error: Error) => void
}

/** The rows of one partition on their way to NATS. */
interface Lane {
  readonly stream: LogStream
  waiting: Appended[]
  group: Appended[]
  running: boolean
  /** No publish is tried before this time (performance.now()), because the last one failed. */
  awayUntil: number
  /** The last publish failed: the next one gets less time, because beacons wait for it. */
  failed: boolean
  readonly encoder: FrameEncoder
}

/** How long a beacon waits for NATS, in which a new leader is elected. */
const publishMs = 2_500
/** How long it waits after a failure. */
const probeMs = 300
/** How long a partition counts as unavailable after a failure. */
const awayMs = 1_000
/** Servers accept messages up to 1 MB by default. */
const messageCharsMax = 300_000
const readMs = 500
/** How long it waits before it publishes refused rows again. */
const retryMs = 100

/**
 * One table's log in NATS JetStream, as a worker sees it. `append` resolves when a majority of the replicas has the
 * rows. Each partition has one publish under way; rows that arrive meanwhile share the next message (a commit group).
 *
 *   append ▶ lane.waiting ▶ lane.group ▶ publish ▶ resolve
 *                                           └ no answer ┬ `spool`: #fallBack ▶ the worker's spool ▶ resolve
 *                                                       └ `refuse`: reject, and publish until the answer is known
 *
 * A refused row may be stored nevertheless. Its publish then holds the low mark until NATS has answered, so readers that
 * follow the watermark do not miss the event.
 */
export class NatsLog implements EventLog {
  readonly #options: NatsLogOptions
  readonly #spoolId = uuidV7()
  readonly #lanes: Lane[]
  /** The last position that each partition has acknowledged. Null until those of earlier processes are known. */
  #positions: number[] | null = null
  readonly #acked: number[]
  readonly #consumed: ConsumedMark
  #committed: readonly number[] = []
  #nextSeq = 1
  #fallenBack: Appended[] = []
  #fallingBack: Promise<void> | null = null
  #flushed: Appended[] = []
  #isClosed = false
  readonly #ending = new AbortController()

  constructor(options: NatsLogOptions) {
    this.#options = options
    this.#consumed = new ConsumedMark(options.receivedFrom)
    this.#acked = options.streams.map(() => 0)
    this.#lanes = options.streams.map((stream) => ({
      stream,
      waiting: [],
      group: [],
      running: false,
      awayUntil: 0,
      failed: false,
      encoder: new FrameEncoder(),
    }))
    void this.#readPositions()
  }

  get trouble(): string | null {
    const { link, spool, whenAway } = this.#options
    if (whenAway === 'spool') return link.client ? null : spool.trouble
    if (!link.client) return 'NATS is unavailable'
    return this.#lanes.some(isAway) ? 'NATS does not store rows' : null
  }

  receive(): number {
    return this.#options.spool.receive()
  }

  notePublished(mark: number): void {
    this.#options.spool.notePublished(mark)
  }

  /** Records until where ClickHouse has the messages of each partition. */
  noteCommitted(positions: readonly number[]): void {
    this.#committed = positions
  }

  /**
   * Returns a time, epoch milliseconds. All rows received earlier are in ClickHouse, or in sealed segments of the spool.
   */
  lowMark(): number {
    const pending = [...this.#fallenBack, ...this.#flushed]
    for (const lane of this.#lanes) pending.push(...lane.group, ...lane.waiting)
    const pendingFrom = pending.reduce(
      (least, { receivedAt }) => Math.min(least, receivedAt),
      Infinity,
    )
    const mark = this.#options.spool.lowMark(pendingFrom)
    const before = this.#positions
    if (before)
      this.#consumed.note(
        mark,
        this.#acked.map((seq, at) => Math.max(seq, before[at]!)),
      )
    return this.#consumed.read(this.#committed)
  }

  async append(rows: readonly string[], receivedAt = this.receive()): Promise<void> {
    if (this.#isClosed) throw new LogUnavailable('the log is closed')
    if (this.#options.spool.isTooLate(receivedAt))
      throw new LogUnavailable('the rows arrive too late')
    const parts = this.#lanes.length === 1 ? [rows] : this.#partsOf(rows)
    await Promise.all(
      parts.flatMap((part, at) =>
        inMessages(part).map((some) => this.#add(this.#lanes[at]!, some, receivedAt)),
      ),
    )
  }

  /** Resolves when all rows are in NATS or on disk. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#ending.abort()
    while (this.#lanes.some(({ running }) => running)) await delay(10)
    await this.#fallingBack
    await this.#options.spool.close()
  }

  #partsOf(rows: readonly string[]): string[][] {
    const parts: string[][] = this.#lanes.map(() => [])
    for (const row of rows) parts[partitionOf(row, this.#lanes.length)]!.push(row)
    return parts
  }

  #add(lane: Lane, rows: readonly string[], receivedAt: number): Promise<void> {
    const isUnavailable = isAway(lane) || !this.#options.link.client
    return new Promise((resolve, reject) => {
      const appended = { rows, receivedAt, resolve, reject }
      if (isUnavailable) this.#giveUp([appended], 'NATS is unavailable')
      else {
        lane.waiting.push(appended)
        if (!lane.running) void this.#run(lane)
      }
    })
  }

  /** The commit loop of a partition: publishes the waiting rows as one message, until none wait. */
  async #run(lane: Lane): Promise<void> {
    lane.running = true
    // Rows that arrive in the same turn of the event loop share the message.
    await new Promise(setImmediate)
    while (lane.waiting.length > 0) {
      lane.group = takeGroup(lane.waiting)
      await this.#publishGroup(lane)
      lane.group = []
    }
    lane.running = false
  }

  async #publishGroup(lane: Lane): Promise<void> {
    const { link, whenAway, onCommit } = this.#options
    const firstSeq = this.#nextSeq
    for (const { rows } of lane.group)
      for (const row of rows)
        lane.encoder.add(row, `,"spool_id":"${this.#spoolId}","seq":${this.#nextSeq++}}\n`)
    const message = {
      subject: lane.stream.subject,
      id: `${this.#spoolId}.${firstSeq}`,
      bytes: lane.encoder.finish(),
    }
    const rows = this.#nextSeq - firstSeq
    try {
      this.#noteAck(lane, await publish(link, message, lane.failed ? probeMs : publishMs))
      lane.failed = false
      onCommit?.(rows)
      for (const { resolve } of lane.group) resolve()
    } catch (error) {
      const { message: reason } = error as Error
      lane.failed = true
      lane.awayUntil = whenAway === 'refuse' ? Infinity : performance.now() + awayMs
      this.#giveUp([...lane.group, ...lane.waiting.splice(0)], reason)
      // The rows were refused, but may be stored later. The group holds the low mark until that is known.
      while (whenAway === 'refuse' && !this.#ending.signal.aborted) {
        // Without a connection, publish fails at once, so a loop without this pause would stop the process.
        await delay(retryMs)
        const seq = await publish(link, message, publishMs).catch(() => null)
        if (seq === null) continue
        this.#noteAck(lane, seq)
        break
      }
      if (whenAway === 'refuse') lane.awayUntil = 0
    }
  }

  #noteAck({ stream: { partition } }: Lane, seq: number): void {
    this.#acked[partition] = Math.max(this.#acked[partition]!, seq)
  }

  /** Keeps rows that NATS has not confirmed in the spool, or refuses them. */
  #giveUp(appended: readonly Appended[], reason: string): void {
    if (this.#options.whenAway === 'refuse')
      for (const { reject } of appended) reject(new LogUnavailable(reason))
    else {
      this.#fallenBack.push(...appended)
      for (const { rows } of appended) logFallbackRows.inc(rows.length)
      this.#fallingBack ??= this.#fallBack()
    }
  }

  /** Appends to the spool, one commit group after another: in each, the earliest row must be the first. */
  async #fallBack(): Promise<void> {
    while (this.#fallenBack.length > 0) {
      this.#flushed = this.#fallenBack.toSorted((one, other) => one.receivedAt - other.receivedAt)
      this.#fallenBack = []
      await Promise.all(
        this.#flushed.map(({ rows, receivedAt, resolve, reject }) =>
          this.#options.spool.append(rows, receivedAt).then(resolve, reject),
        ),
      )
      this.#flushed = []
    }
    // Without a wait after the last look: rows that arrive from now on start the next run.
    this.#fallingBack = null
  }

  /** Reads the last positions once: an earlier process of this worker may have published up to there. */
  async #readPositions(): Promise<void> {
    while (!this.#positions && !this.#ending.signal.aborted) {
      try {
        const { manager } = await this.#options.link.ready()
        const infos = await Promise.all(
          this.#options.streams.map(({ name }) => infoOf(manager, name)),
        )
        if (infos.every((info) => info !== null))
          this.#positions = infos.map((info) => info!.state.last_seq)
      } catch {
        // NATS is unavailable: the watermark waits.
      }
      if (!this.#positions) await delay(readMs)
    }
  }
}

const isAway = ({ awayUntil }: Lane): boolean => performance.now() < awayUntil

/** Divides rows so that each part fits into a message. */
function inMessages(rows: readonly string[]): (readonly string[])[] {
  const parts: string[][] = []
  let chars = Infinity
  for (const row of rows) {
    chars += row.length
    if (chars > messageCharsMax) {
      parts.push([])
      chars = row.length
    }
    parts.at(-1)!.push(row)
  }
  return parts
}

/** Takes rows for one message from the beginning of those that wait: at least one entry. */
function takeGroup(waiting: Appended[]): Appended[] {
  let chars = 0
  let count = 0
  for (const { rows } of waiting) {
    for (const row of rows) chars += row.length
    if (count > 0 && chars > messageCharsMax) break
    count++
  }
  return waiting.splice(0, count)
}
