import { readFileSync } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { basename } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { writeDeadLetter } from '../shipper/insert.ts'
import type { ShipObserver } from '../shipper/shipper.ts'
import type { SegmentShipper } from '../shipper/shippers.ts'
import { FrameEncoder } from '../spool/frame.ts'
import type { SpooledTable } from '../spool/layout.ts'
import { splitLines } from '../spool/rowFields.ts'
import { decodeBatch, spoolPartition } from '../spool/spoolPartition.ts'
import type { NatsLink } from './natsLink.ts'
import { type LogMessage, publish } from './publish.ts'
import { type LogStream, partitionOf } from './streams.ts'

export interface ForwarderOptions {
  link: NatsLink
  table: SpooledTable
  streams: readonly LogStream[]
  deadLetterDirectory: string
  observe: ShipObserver
}

/** A segment, or its rows in NATS until the shippers have inserted them. */
interface Forwarded {
  oldestAt: number
  /** The last position in each partition; null before all rows are in NATS. */
  positions: number[] | null
}

const publishMs = 5_000
const retryMs = 500
const messageBytesMax = 600_000
const damagedReason = 'a record of the spool on disk, or one next to it, has changed'

/**
 * Forwards the segments that a collector spooled while NATS was unavailable, oldest first, and deletes them. Messages
 * have ids made of the segment and a number, so a repetition is stored once.
 */
export class Forwarder implements SegmentShipper {
  readonly #options: ForwarderOptions
  readonly #waiting: { path: string; forwarded: Forwarded }[] = []
  /** Those whose rows may be missing in ClickHouse. */
  #uncommitted: Forwarded[] = []
  #committed: readonly number[] = []
  #running: Promise<void> | null = null
  readonly #stopping = new AbortController()

  constructor(options: ForwarderOptions) {
    this.#options = options
  }

  /** None: the consumers ship. */
  readonly repeatsFrom = Infinity

  get backlog(): number {
    return this.#waiting.length
  }

  /** When the first row of its segments that is not in ClickHouse was received, epoch milliseconds; Infinity: all are. */
  get lowMark(): number {
    this.#uncommitted = this.#uncommitted.filter(
      ({ positions }) =>
        !positions?.every((position, partition) => position <= (this.#committed[partition] ?? 0)),
    )
    return this.#uncommitted.reduce((least, { oldestAt }) => Math.min(least, oldestAt), Infinity)
  }

  /** Records until where ClickHouse has the messages of each partition. */
  noteCommitted(positions: readonly number[]): void {
    this.#committed = positions
  }

  add(path: string): void {
    if (this.#waiting.some((waiting) => waiting.path === path)) return
    const forwarded = { oldestAt: spoolPartition.oldestAt(path), positions: null }
    this.#uncommitted.push(forwarded)
    this.#waiting.push({ path, forwarded })
    this.#running ??= this.#run()
  }

  /** Also takes segments that an earlier start has shipped itself: the log removes duplicate events. */
  addUncertain(paths: readonly string[]): void {
    for (const path of paths) {
      if (this.#options.table === 'events' || !spoolPartition.isCommitted(path)) this.add(path)
      else void spoolPartition.forget(path)
    }
  }

  /** The owners of the partitions notice restarts of ClickHouse. */
  async noticeRestart(): Promise<void> {}

  /** Forwarded segments are deleted at once. */
  makeRoom(): void {}

  async stop(timeoutMs: number): Promise<void> {
    const timeout = setTimeout(() => this.#stopping.abort(), timeoutMs)
    await this.#running
    clearTimeout(timeout)
    this.#stopping.abort()
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    for (let next = this.#waiting[0]; next && !signal.aborted; next = this.#waiting[0]) {
      try {
        next.forwarded.positions = await this.#forward(next.path)
        await unlink(next.path)
        this.#waiting.shift()
      } catch (error) {
        this.#options.observe.retry(error as Error, next.path)
        await delay(retryMs, undefined, { signal }).catch(() => {})
      }
    }
    // Without a wait after the last look: a segment that arrives from now on starts the next run.
    this.#running = null
  }

  /** Publishes the rows of a segment, and returns the last position of each partition. */
  async #forward(path: string): Promise<number[]> {
    const { link, streams, table } = this.#options
    const bytes = readFileSync(path)
    const { payloads, damaged } = decodeBatch(bytes, bytes, 0)
    const positions = streams.map(() => 0)
    const name = basename(path).replace(/\.[a-z]+$/, '')
    const lines = payloads.flatMap(splitLines).map((line) => line.toString())
    for (const { partition, subject } of streams) {
      const ofPartition = lines.filter(
        (line) => table !== 'events' || partitionOf(line, streams.length) === partition,
      )
      for (const message of messagesOf(ofPartition, subject, `${name}.${partition}`)) {
        if (this.#stopping.signal.aborted) throw new Error('the collector stops')
        positions[partition] = await publish(link, message, publishMs)
      }
    }
    for (const row of damaged) writeDeadLetter(this.#options, name, row, damagedReason)
    return positions
  }
}

/** Yields lines as messages. A message is valid until the next one. */
function* messagesOf(lines: readonly string[], subject: string, id: string): Generator<LogMessage> {
  const encoder = new FrameEncoder()
  let number = 0
  let bytes = 0
  for (const [at, line] of lines.entries()) {
    encoder.add(line.slice(0, -1), '}\n')
    bytes += Buffer.byteLength(line)
    const next = lines[at + 1]
    if (next !== undefined && bytes + Buffer.byteLength(next) < messageBytesMax) continue
    yield { subject, id: `${id}.${number++}`, bytes: encoder.finish() }
    bytes = 0
  }
}
