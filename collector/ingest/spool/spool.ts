import { truncateSync } from 'node:fs'
import { join } from 'node:path'
import { runEvery } from '../../platform/runEvery.ts'
import { aheadMsMax, type SharedClock } from '../../platform/sharedClock.ts'
import { uuidV7 } from '../../platform/uuidV7.ts'
import { type EventLog, LogUnavailable } from '../log/eventLog.ts'
import { FrameEncoder } from './frame.ts'
import {
  closeSegment,
  createSegment,
  PreallocatedSegments,
  type SegmentFile,
  sealedBytesIn,
  sealedIn,
  sealLeftover,
  sealSegment,
  takeSpare,
  writeDurably,
} from './segmentFile.ts'

/** Thrown by `append` if no row was stored. */
export class SpoolUnavailable extends LogUnavailable {}

export interface SpoolOptions {
  /** Owned by this process alone, and recovered (recoverSegments) before the spool is opened. */
  directory: string
  /** A segment is sealed when it is this large… */
  segmentBytesMax: number
  /** …or this old; twice if it fills fast. It keeps growing while the shipper is behind. */
  sealAfterMs: number
  /** Bytes of all unshipped segments beyond which `append` refuses. */
  bytesMax: number
  /** Called with a segment's path when it is ready to ship. A worker sends the path to the primary, which ships. */
  onSealed: (path: string) => void
  /** Called when the disk is full, at most once a second. */
  onNoRoom?: () => void
  /** Called after each commit. */
  onCommit?: (rows: number) => void
  /** The earliest `received_at` of new rows, epoch milliseconds; default any. */
  receivedFrom?: number | undefined
  /** PostgreSQL's time, which limits how far this machine's clock may run ahead. Default: no limit. */
  clock?: Pick<SharedClock, 'latest'> | undefined
}

/** The rows of one call of `append`, until they are durable. */
interface AppendedRows {
  receivedAt: number
  firstSeq: number
  resolve: () => void
  reject: (error: Error) => void
}

/**
 * An append-only log of rows on their way to ClickHouse. `append` resolves when its rows are on disk. Rows that arrive
 * during a durable write share the next one, so at most one write runs at a time.
 *
 * Segments are called `<spool_id>.<first seq>.<state>` (segmentFile.ts). Every start has a new spool_id, a UUIDv7, so
 * names sort by age and no (spool_id, seq) is ever used twice.
 *
 * Three state machines run side by side:
 *
 *   1. Rows: one commit loop (#commitWaiting) runs while rows wait.
 *
 *        append ▶ #waiting ▶ #group ▶ #writeRecord ▶ resolve
 *                                         └ the disk refuses ▶ reject with SpoolUnavailable
 *
 *   2. Segments: #sealing is a chain of promises, so segments are sealed one at a time, in their order.
 *
 *        #openSegment ▶ #open ──── #seal ────▶ #unsealed ── #sealAll ──▶ `.seg` file ▶ onSealed (a message to the primary)
 *                         └── #abandon: a write failed ──┘  ▲        │
 *                                                           └────────┘ the disk refuses: again after sealAfterMs
 *
 *   3. The age of the open segment: #sealIn starts one timer, which calls #sealWhenDue.
 *
 *        commit ▶ #sealIn ▶ #sealWhenDue ┬ it fills fast, or the shipper is behind ▶ #sealIn
 *                                        ├ a commit is under way ▶ #sealsAfterCommit: #writeRecord seals
 *                                        └ otherwise ▶ #seal
 *
 * #writeRecord connects them: it opens a segment for a group of rows, and seals the segment when it is full or due.
 */
export class Spool implements EventLog {
  readonly position = 0
  readonly spoolId = uuidV7()
  readonly #options: SpoolOptions
  /** Encodes waiting rows while the other one's buffer is written. The commit loop swaps them. */
  #encoder = new FrameEncoder()
  #otherEncoder = new FrameEncoder()
  readonly #preallocated: PreallocatedSegments
  #nextSeq = 1
  #waiting: AppendedRows[] = []
  #group: AppendedRows[] = []
  #committing: Promise<void> | null = null
  #open: OpenSegment | null = null
  /** Segments that are being sealed; after a refusal of the disk the spool retries. */
  #unsealed: OpenSegment[] = []
  #sealing: Promise<void> = Promise.resolve()
  #sealedBytes = 0
  /** How many segments were sealed: #measure discards a measurement during which it grew. */
  #sealCount = 0
  #sealTimer: NodeJS.Timeout | undefined
  /** The open segment is due, but a commit to it is under way: that commit seals it. */
  #sealsAfterCommit = false
  readonly #measuring: { stop(): Promise<void> }
  #isClosed = false
  /** When the disk last refused a write. */
  #refusedAt = 0
  #reportedNoRoomAt = 0
  /** The last time that `receive` returned. */
  #receivedAt: number
  /** Whether `receive` was called in this turn of the event loop. */
  #isTimeOfTurn = false
  /** The last mark that `lowMark` returned: `append` refuses rows from before it. */
  #lowMark = 0
  #publishedMark = 0

  constructor(options: SpoolOptions) {
    this.#options = options
    this.#preallocated = new PreallocatedSegments(
      join(options.directory, this.spoolId),
      options.segmentBytesMax,
    )
    this.#receivedAt = options.receivedFrom ?? 0
    // The primary process ships segments, so they leave the directory without a call of this object.
    this.#measuring = runEvery(
      measureMs,
      () => this.#measure(),
      () => {},
    )
  }

  /** Bytes on disk that ClickHouse does not have yet; the value is at most a second old. */
  get bytes(): number {
    return [...this.#unsealed, this.#open].reduce(
      (sum, one) => sum + (one?.bytes ?? 0),
      this.#sealedBytes,
    )
  }

  /** True while `append` refuses because the spool has reached bytesMax. */
  get isFull(): boolean {
    return this.bytes >= this.#options.bytesMax
  }

  /** The reason why appends fail now; null if they succeed. */
  get trouble(): string | null {
    if (this.isFull) return 'the spool is full'
    return Date.now() - this.#refusedAt < troubleMs ? 'the disk refuses writes' : null
  }

  /**
   * Returns the `received_at` of rows that arrive now, epoch milliseconds. It does not go back when the clock
   * does, and it is at most 5 seconds ahead of PostgreSQL's. A time that ran ahead before the first
   * comparison returns to PostgreSQL's, but never to before the published watermark. Readers have read
   * everything until there.
   *
   * All calls in one turn of the event loop get the same time. So beacons that a call accepts concurrently may append in
   * another order than they began in.
   */
  receive(): number {
    if (this.#isTimeOfTurn) return this.#receivedAt
    this.#isTimeOfTurn = true
    setImmediate(() => {
      this.#isTimeOfTurn = false
    })
    const latest = Math.ceil(this.#options.clock?.latest() ?? Infinity)
    if (this.#receivedAt > latest + aheadMsMax) {
      this.#receivedAt = Math.max(latest, this.#publishedMark)
      this.#lowMark = Math.min(this.#lowMark, this.#receivedAt)
    }
    this.#receivedAt = Math.max(this.#receivedAt, Math.min(Date.now(), latest + aheadMsMax))
    return this.#receivedAt
  }

  /** Records the latest watermark that this machine has published, epoch milliseconds. */
  notePublished(mark: number): void {
    this.#publishedMark = mark
  }

  /**
   * Returns a time, epoch milliseconds. All rows received before it are in segments that onSealed was called
   * for, and no row from before it will follow. Rows received at `pendingFrom` may still be appended.
   */
  lowMark(pendingFrom = Infinity): number {
    const oldest = [...this.#unsealed, this.#open, this.#group[0], this.#waiting[0]]
    const times = oldest.flatMap((one) => one?.receivedAt ?? [])
    this.#lowMark = Math.min(this.receive(), pendingFrom, ...times)
    return this.#lowMark
  }

  /** Whether `append` refuses rows received then, because a later low mark was reported. */
  isTooLate(receivedAt: number): boolean {
    return receivedAt < this.#lowMark
  }

  /**
   * Keeps rows. Each is the text of a JSON object with at least one member; the spool adds `spool_id` and `seq`.
   * Resolves when they are durable. Rejects with SpoolUnavailable when the spool is full or the disk refuses; then no
   * row was kept. `receivedAt` is their `received_at`, from `receive`. Call `append` without waiting in between: once
   * a later low mark was reported, the rows are refused.
   */
  append(rows: readonly string[], receivedAt = this.receive()): Promise<void> {
    if (this.isTooLate(receivedAt))
      return Promise.reject(new SpoolUnavailable('the rows arrive too late'))
    // The first row of a group, and of a segment, must be the earliest: lowMark and the shipper read only that one.
    if (receivedAt < (this.#waiting[0]?.receivedAt ?? 0))
      return Promise.reject(new SpoolUnavailable('the clock was set back'))
    if (this.#isClosed) return Promise.reject(new SpoolUnavailable('the spool is closed'))
    if (this.isFull) return Promise.reject(new SpoolUnavailable('the spool is full'))
    const firstSeq = this.#nextSeq
    for (const row of rows)
      this.#encoder.add(row, `,"spool_id":"${this.spoolId}","seq":${this.#nextSeq++}}\n`)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ receivedAt, firstSeq, resolve, reject })
      this.#committing ??= this.#commitWaiting()
    })
  }

  /** Commits the waiting rows, seals all segments, and refuses further rows. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#committing
    await this.#measuring.stop()
    await Promise.all([this.#seal(), this.#preallocated.close()])
  }

  /** The commit loop: writes all waiting rows as one record, until none wait. */
  async #commitWaiting(): Promise<void> {
    // Rows that arrive in the same turn of the event loop share the write.
    await new Promise(setImmediate)
    while (this.#waiting.length > 0) {
      const group = this.#waiting
      this.#group = group
      this.#waiting = []
      const rows = this.#nextSeq - group[0]!.firstSeq
      const record = this.#encoder.finish()
      ;[this.#encoder, this.#otherEncoder] = [this.#otherEncoder, this.#encoder]
      try {
        await this.#writeRecord(group[0]!, record)
        this.#options.onCommit?.(rows)
        this.#refusedAt = 0
        for (const one of group) one.resolve()
      } catch (error) {
        this.#noteRefusal(error as NodeJS.ErrnoException)
        const refused = new SpoolUnavailable(`the disk refused: ${(error as Error).message}`)
        for (const one of group) one.reject(refused)
      }
    }
    this.#group = []
    this.#committing = null
  }

  /** Records that the disk refused a write; if it is full, requests space. */
  #noteRefusal({ code }: NodeJS.ErrnoException): void {
    const now = Date.now()
    this.#refusedAt = now
    if ((code !== 'ENOSPC' && code !== 'EDQUOT') || now - this.#reportedNoRoomAt < measureMs) return
    this.#reportedNoRoomAt = now
    this.#options.onNoRoom?.()
  }

  /** Writes a record, whose first rows are `first`, durably to the open segment; seals the segment if it is full or due. */
  async #writeRecord(first: AppendedRows, record: Buffer): Promise<void> {
    if (this.#open && first.receivedAt < this.#open.receivedAt) void this.#seal()
    this.#open ??= await this.#openSegment(first)
    const open = this.#open
    try {
      await writeDurably(open.file, record, open.bytes)
    } catch (error) {
      // After a failed write the file may contain anything past the last commit, so it is truncated there and
      // a new file begins.
      this.#abandon(open)
      throw error
    }
    open.bytes += record.length
    this.#preallocated.noteCommit(open.bytes)
    const isFull = open.bytes >= this.#options.segmentBytesMax
    const lacksRoom = this.#preallocated.isReady && open.bytes + record.length > open.file.room
    if (isFull || lacksRoom || this.#sealsAfterCommit) void this.#seal()
    else this.#sealIn(this.#options.sealAfterMs)
  }

  async #openSegment({ firstSeq, receivedAt }: AppendedRows): Promise<OpenSegment> {
    const name = `${this.spoolId}.${String(firstSeq).padStart(16, '0')}.open`
    const path = join(this.#options.directory, name)
    const spare = this.#preallocated.take()
    const file = await (spare ? takeSpare(spare, path) : createSegment(path))
    return { file, bytes: 0, receivedAt }
  }

  /** Decides, when the timer fires, whether the open segment is sealed now, after the current commit, or later. */
  async #sealWhenDue(): Promise<void> {
    const { directory, sealAfterMs } = this.#options
    const due = this.#open
    this.#sealTimer = undefined
    const shipperIsBehind = await sealedIn(directory).then(
      (sealed) => sealed.length > 0,
      () => false,
    )
    // The segment was sealed meanwhile because it was full; the open one is younger than sealAfterMs.
    if (due && this.#open !== due) return
    const mayWait = due !== null && due.bytes >= fastSegmentBytes && !due.hasWaited
    if (mayWait) due.hasWaited = true
    if (shipperIsBehind || mayWait) this.#sealIn(sealAfterMs)
    else if (this.#committing && this.#open) this.#sealsAfterCommit = true
    else void this.#seal()
  }

  /** Starts the timer unless it runs. */
  #sealIn(ms: number): void {
    this.#sealTimer ??= setTimeout(() => void this.#sealWhenDue(), ms)
  }

  /** Seals the open segment, after the segments whose sealing failed earlier; in their order. */
  #seal(): Promise<void> {
    if (this.#open) this.#unsealed.push(this.#open)
    this.#open = null
    this.#sealsAfterCommit = false
    clearTimeout(this.#sealTimer)
    this.#sealTimer = undefined
    this.#sealing = this.#sealing.then(() => this.#sealAll())
    return this.#sealing
  }

  async #sealAll(): Promise<void> {
    for (const segment of [...this.#unsealed]) {
      const { file } = segment
      try {
        if (segment.isTorn) await closeSegment(file)
        const sealed = segment.isTorn
          ? sealLeftover(file.path)
          : await sealSegment(file, segment.bytes)
        this.#unsealed.splice(this.#unsealed.indexOf(segment), 1)
        if (sealed === null) continue
        this.#sealedBytes += segment.bytes
        this.#sealCount++
        this.#options.onSealed(sealed)
      } catch {
        if (!this.#isClosed) this.#sealIn(this.#options.sealAfterMs)
      }
    }
  }

  /** Measures the sealed segments that are not shipped yet. */
  async #measure(): Promise<void> {
    const seals = this.#sealCount
    const bytes = await sealedBytesIn(this.#options.directory)
    // The listing may lack a segment that was sealed meanwhile.
    if (seals === this.#sealCount) this.#sealedBytes = bytes
  }

  /**
   * Abandons a segment on which a write failed: truncates it to the committed bytes, so that the next write
   * opens another.
   */
  #abandon(segment: OpenSegment): void {
    this.#open = null
    try {
      truncateSync(segment.file.path, segment.bytes)
    } catch {
      // The disk refuses this too. sealLeftover cuts the file later, at the record whose checksum is wrong.
    }
    this.#unsealed.push({ ...segment, isTorn: true })
    this.#sealIn(this.#options.sealAfterMs)
  }
}

interface OpenSegment {
  file: SegmentFile
  /** `received_at` of its first row, the earliest. */
  receivedAt: number
  /** Committed bytes. */
  bytes: number
  /** It was due, and got a second sealAfterMs because it fills fast. */
  hasWaited?: boolean
  /** A write failed: the file may hold more than was committed. */
  isTorn?: boolean
}

/** A segment that is this large when due fills fast: ClickHouse takes its rows more cheaply in one insert than in two. */
const fastSegmentBytes = 1024 * 1024

const measureMs = 1_000

/** How long `trouble` reports a refusal of the disk, when nothing is written meanwhile. */
const troubleMs = 2_000
