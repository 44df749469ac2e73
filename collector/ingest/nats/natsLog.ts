import { setTimeout as delay } from 'node:timers/promises'
import type { NatsSettings } from '../../config.ts'
import { commitRows, logFallbackRows } from '../../platform/metrics.ts'
import { uuidV7 } from '../../platform/uuidV7.ts'
import { type EventLog, LogUnavailable } from '../log/eventLog.ts'
import { FrameEncoder } from '../spool/frame.ts'
import type { SpooledTable } from '../spool/layout.ts'
import type { Spool } from '../spool/spool.ts'
import type { EventLogs, Spools } from '../spool/spools.ts'
import { type LogMessage, type NatsLink, openNatsLink, publish } from './natsLink.ts'
import { type LogStream, streamOf } from './streams.ts'

interface NatsLogOptions {
  link: NatsLink
  stream: LogStream
  whenAway: NatsSettings['whenAway']
  /** The worker's spool: it has the clock, and keeps rows while NATS is unavailable. */
  spool: Spool
  /** Called after each commit. */
  onCommit?: (rows: number) => void
}

/** Rows of one call of `append`, or a part of them that fits into a message. */
interface AppendedRows {
  rows: readonly string[]
  receivedAt: number
  resolve: () => void
  reject: (error: Error) => void
}

/** How long a beacon waits for NATS, in which a new leader is elected. */
const publishMs = 2_500
/** How long it waits after a failure. */
const probeMs = 300
/** How long NATS counts as unavailable after a failure. */
const awayMs = 1_000
/** Servers accept messages up to 1 MB by default. */
const messageCharsMax = 300_000
/** How long it waits before it publishes refused rows again. */
const retryMs = 100

/**
 * One table's log in NATS JetStream, as a worker sees it. `append` resolves when a majority of the replicas has the
 * rows. One publish is under way at a time; rows that arrive meanwhile share the next message (a commit group).
 *
 *   append ▶ #waiting ▶ #group ▶ publish ▶ resolve
 *                                   └ no answer ┬ `spool`: #fallBack ▶ the worker's spool ▶ resolve
 *                                               └ `refuse`: reject, and publish until the answer is known
 *
 * A refused row may be stored nevertheless. Its publish then holds the low mark until NATS has answered, so readers that
 * follow the watermark do not miss the event.
 */
class NatsLog implements EventLog {
  readonly #options: NatsLogOptions
  readonly #spoolId = uuidV7()
  readonly #encoder = new FrameEncoder()
  #nextSeq = 1
  #position = 0
  #waiting: AppendedRows[] = []
  #group: AppendedRows[] = []
  #publishing: Promise<void> | null = null
  /** No publish is tried before this time (performance.now()), because the last one failed. */
  #awayUntil = 0
  /** The last publish failed: the next one gets less time, because beacons wait for it. */
  #hasFailed = false
  #fallenBack: AppendedRows[] = []
  #spooling: AppendedRows[] = []
  #fallingBack: Promise<void> | null = null
  #isClosed = false
  readonly #ending = new AbortController()

  constructor(options: NatsLogOptions) {
    this.#options = options
  }

  get trouble(): string | null {
    const { link, spool, whenAway } = this.#options
    if (whenAway === 'spool') return link.client ? null : spool.trouble
    if (!link.client) return 'NATS is unavailable'
    return this.#isAway ? 'NATS does not store rows' : null
  }

  get position(): number {
    return this.#position
  }

  receive(): number {
    return this.#options.spool.receive()
  }

  notePublished(mark: number): void {
    this.#options.spool.notePublished(mark)
  }

  lowMark(): number {
    const pending = [this.#fallenBack, this.#spooling, this.#group, this.#waiting].flat()
    return this.#options.spool.lowMark(
      pending.reduce((least, { receivedAt }) => Math.min(least, receivedAt), Infinity),
    )
  }

  async append(rows: readonly string[], receivedAt = this.receive()): Promise<void> {
    if (this.#isClosed) throw new LogUnavailable('the log is closed')
    if (this.#options.spool.isTooLate(receivedAt))
      throw new LogUnavailable('the rows arrive too late')
    await Promise.all(inMessages(rows).map((part) => this.#add(part, receivedAt)))
  }

  /** Resolves when all rows are in NATS or on disk. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#ending.abort()
    await this.#publishing
    await this.#fallingBack
    await this.#options.spool.close()
  }

  get #isAway(): boolean {
    return performance.now() < this.#awayUntil
  }

  #add(rows: readonly string[], receivedAt: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const appended = { rows, receivedAt, resolve, reject }
      if (this.#isAway || !this.#options.link.client)
        this.#giveUp([appended], 'NATS is unavailable')
      else {
        this.#waiting.push(appended)
        this.#publishing ??= this.#publishWaiting()
      }
    })
  }

  /** The commit loop: publishes the waiting rows as one message, until none wait. */
  async #publishWaiting(): Promise<void> {
    // Rows that arrive in the same turn of the event loop share the message.
    await new Promise(setImmediate)
    while (this.#waiting.length > 0) {
      this.#group = takeGroup(this.#waiting)
      await this.#publishGroup(this.#group)
      this.#group = []
    }
    this.#publishing = null
  }

  async #publishGroup(group: readonly AppendedRows[]): Promise<void> {
    const { link, whenAway, onCommit } = this.#options
    const message = this.#encode(group)
    try {
      this.#position = await publish(link, message, this.#hasFailed ? probeMs : publishMs)
      this.#hasFailed = false
      onCommit?.(group.reduce((sum, { rows }) => sum + rows.length, 0))
      for (const { resolve } of group) resolve()
    } catch (error) {
      this.#hasFailed = true
      this.#awayUntil = whenAway === 'refuse' ? Infinity : performance.now() + awayMs
      this.#giveUp([...group, ...this.#waiting.splice(0)], (error as Error).message)
      if (whenAway === 'refuse') await this.#publishRefused(message)
    }
  }

  /** Publishes refused rows, which may be stored later, until that is known. The group holds the low mark meanwhile. */
  async #publishRefused(message: LogMessage): Promise<void> {
    while (!this.#ending.signal.aborted) {
      // Without a connection, publish fails at once, so a loop without this pause would stop the process.
      await delay(retryMs)
      const position = await publish(this.#options.link, message, publishMs).catch(() => null)
      if (position === null) continue
      this.#position = position
      break
    }
    this.#awayUntil = 0
  }

  /** Returns rows as a message, which is valid until the next one. */
  #encode(group: readonly AppendedRows[]): LogMessage {
    const id = `${this.#spoolId}.${this.#nextSeq}`
    for (const { rows } of group)
      for (const row of rows)
        this.#encoder.add(row, `,"spool_id":"${this.#spoolId}","seq":${this.#nextSeq++}}\n`)
    return { subject: this.#options.stream.subject, id, bytes: this.#encoder.finish() }
  }

  /** Keeps rows that NATS has not confirmed in the spool, or refuses them. */
  #giveUp(appended: readonly AppendedRows[], reason: string): void {
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
      this.#spooling = this.#fallenBack.toSorted((one, other) => one.receivedAt - other.receivedAt)
      this.#fallenBack = []
      await Promise.all(
        this.#spooling.map(({ rows, receivedAt, resolve, reject }) =>
          this.#options.spool.append(rows, receivedAt).then(resolve, reject),
        ),
      )
      this.#spooling = []
    }
    // Without a wait after the last look: rows that arrive from now on start the next run.
    this.#fallingBack = null
  }
}

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
function takeGroup(waiting: AppendedRows[]): AppendedRows[] {
  let chars = 0
  let count = 0
  for (const { rows } of waiting) {
    for (const row of rows) chars += row.length
    if (count > 0 && chars > messageCharsMax) break
    count++
  }
  return waiting.splice(0, count)
}

/** Opens a worker’s logs in NATS. Its spools keep rows while NATS is unavailable. */
export async function openNatsLogs(
  settings: NatsSettings,
  spools: Spools,
): Promise<{ logs: EventLogs; link: NatsLink; close(): Promise<void> }> {
  const link = await openNatsLink(settings.servers)
  const open = (table: SpooledTable) =>
    new NatsLog({
      link,
      stream: streamOf(table, settings),
      whenAway: settings.whenAway,
      spool: spools[table],
      onCommit: (rows) => table === 'events' && commitRows.observe(rows),
    })
  return {
    link,
    logs: {
      events: open('events'),
      rejected_events: open('rejected_events'),
      identity_links: open('identity_links'),
    },
    close: () => link.close(),
  }
}
