import { truncateSync } from 'node:fs'
import { join } from 'node:path'
import { repeat } from '../../platform/repeat.ts'
import { uuidV7 } from '../../platform/uuidV7.ts'
import { FrameEncoder } from './frame.ts'
import { sealLeftover } from './recover.ts'
import {
  closeSegment,
  createSegment,
  type SegmentFile,
  sealedBytesIn,
  sealedIn,
  sealSegment,
  takeSpare,
  writeDurably,
} from './segmentFile.ts'
import { aheadMsMax, type SharedClock } from './sharedClock.ts'
import { Spares } from './spares.ts'

/** Thrown by `append` when nothing was kept: the caller must not acknowledge, and may try again later. */
export class SpoolUnavailable extends Error {}

export interface SpoolOptions {
  /** Owned by this process alone, and recovered (recoverSegments) before it is opened. */
  directory: string
  /** A segment is sealed when it is this large… */
  segmentBytesMax: number
  /** …or this old, twice that where it fills fast. While those sealed earlier wait to be shipped it may as well grow. */
  sealAfterMs: number
  /** Bytes of all segments that wait; past this, `append` refuses. */
  bytesMax: number
  /** Called with a segment's path when it may be shipped. */
  onSealed: (path: string) => void
  /** Called when the disk has no room, at most once a second. */
  onNoRoom?: () => void
  /** Called after each commit. */
  onCommit?: (rows: number) => void
  /** The earliest time, epoch milliseconds, that rows may say they were received; default any. */
  receivedFrom?: number | undefined
  /** PostgreSQL's time: a clock of this machine that is far ahead of it is not believed. Default: it always is. */
  clock?: Pick<SharedClock, 'latest'> | undefined
}

interface Waiting {
  receivedAt: number
  firstSeq: number
  resolve: () => void
  reject: (error: Error) => void
}

/**
 * An append-only log of rows on their way to ClickHouse. `append` resolves when its rows are on disk: all that
 * arrives while one durable write is under way goes into the next, so there is never more than one.
 *
 * Segments are called `<spool_id>.<first seq>.<state>` (recover.ts). Every start has a new spool_id, a UUIDv7, so
 * names sort by age and no (spool_id, seq) is ever used twice.
 */
export class Spool {
  readonly spoolId = uuidV7()
  readonly #options: SpoolOptions
  /** Takes the rows that wait; its other is being written. */
  #encoder = new FrameEncoder()
  #otherEncoder = new FrameEncoder()
  readonly #spares: Spares
  #nextSeq = 1
  #waiting: Waiting[] = []
  /** What is being committed. */
  #group: Waiting[] = []
  #committing: Promise<void> | null = null
  #open: OpenSegment | null = null
  /** Files that are being sealed, or that the disk would not let us seal: tried again until it does. */
  #unsealed: OpenSegment[] = []
  #sealing: Promise<void> = Promise.resolve()
  #sealedBytes = 0
  /** How many were. */
  #seals = 0
  #sealTimer: NodeJS.Timeout | undefined
  /** The open segment is old enough, and a commit to it is under way. */
  #isDue = false
  readonly #measuring: { stop(): Promise<void> }
  #isClosed = false
  /** When the disk last refused. */
  #refusedAt = 0
  #toldNoRoomAt = 0
  /** The last time that `receive` gave. */
  #receivedAt: number
  #lowMark = 0
  #published = 0

  constructor(options: SpoolOptions) {
    this.#options = options
    this.#spares = new Spares(join(options.directory, this.spoolId), options.segmentBytesMax)
    this.#receivedAt = options.receivedFrom ?? 0
    // Segments leave the directory without our doing: another process ships them.
    this.#measuring = repeat(
      measureMs,
      () => this.#measure(),
      () => {},
    )
  }

  /** Bytes on disk that ClickHouse does not have yet; at most a second old. */
  get bytes(): number {
    return [...this.#unsealed, this.#open].reduce(
      (sum, one) => sum + (one?.bytes ?? 0),
      this.#sealedBytes,
    )
  }

  /** True while `append` refuses for want of room. */
  get isFull(): boolean {
    return this.bytes >= this.#options.bytesMax
  }

  /** Why appends fail now; null when they don't. */
  get trouble(): string | null {
    if (this.isFull) return 'the spool is full'
    return Date.now() - this.#refusedAt < troubleMs ? 'the disk refuses writes' : null
  }

  /**
   * The time that rows which arrive now are to say, epoch milliseconds. It does not go back when the clock does, and it
   * is at most 5 seconds ahead of PostgreSQL's. A time that ran ahead before it was compared goes back to PostgreSQL's,
   * never to before what was published: readers have read all until there.
   */
  receive(): number {
    const latest = Math.ceil(this.#options.clock?.latest() ?? Infinity)
    if (this.#receivedAt > latest + aheadMsMax) {
      this.#receivedAt = Math.max(latest, this.#published)
      this.#lowMark = Math.min(this.#lowMark, this.#receivedAt)
    }
    this.#receivedAt = Math.max(this.#receivedAt, Math.min(Date.now(), latest + aheadMsMax))
    return this.#receivedAt
  }

  /** Notes the latest watermark that this machine has published, epoch milliseconds. */
  notePublished(mark: number): void {
    this.#published = mark
  }

  /**
   * All rows received before it, epoch milliseconds, are in segments that onSealed was called for, and none will follow.
   */
  lowMark(): number {
    const oldest = [...this.#unsealed, this.#open, this.#group[0], this.#waiting[0]]
    this.#lowMark = Math.min(this.receive(), ...oldest.flatMap((one) => one?.receivedAt ?? []))
    return this.#lowMark
  }

  /**
   * Keeps rows. Each is the text of a JSON object with at least one member; the spool adds `spool_id` and `seq`. Resolves when they are
   * durable; rejects with SpoolUnavailable when the spool is full or the disk refuses, and then none was kept. They say
   * that they were received at `receivedAt`, which `receive` gave: rows with which a caller let time go by are refused.
   */
  append(rows: readonly string[], receivedAt = this.receive()): Promise<void> {
    if (receivedAt < this.#lowMark)
      return Promise.reject(new SpoolUnavailable('the rows come too late'))
    // The first row of a group, and of a segment, tells that none of the others is earlier.
    if (receivedAt < (this.#waiting[0]?.receivedAt ?? 0))
      return Promise.reject(new SpoolUnavailable('the clock was set back'))
    if (this.#isClosed) return Promise.reject(new SpoolUnavailable('the spool is closed'))
    if (this.isFull) return Promise.reject(new SpoolUnavailable('the spool is full'))
    const firstSeq = this.#nextSeq
    for (const row of rows)
      this.#encoder.add(row, `,"spool_id":"${this.spoolId}","seq":${this.#nextSeq++}}\n`)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ receivedAt, firstSeq, resolve, reject })
      this.#committing ??= this.#commit()
    })
  }

  /** Commits what waits, seals, and accepts nothing more. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#committing
    await this.#measuring.stop()
    await Promise.all([this.#seal(), this.#spares.close()])
  }

  async #commit(): Promise<void> {
    // Whatever arrives in the same turn of the event loop shares the write.
    await new Promise(setImmediate)
    while (this.#waiting.length > 0) {
      const group = this.#waiting
      this.#group = group
      this.#waiting = []
      const rows = this.#nextSeq - group[0]!.firstSeq
      const record = this.#encoder.finish()
      ;[this.#encoder, this.#otherEncoder] = [this.#otherEncoder, this.#encoder]
      try {
        await this.#write(group[0]!, record)
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

  #noteRefusal({ code }: NodeJS.ErrnoException): void {
    const now = Date.now()
    this.#refusedAt = now
    if ((code !== 'ENOSPC' && code !== 'EDQUOT') || now - this.#toldNoRoomAt < measureMs) return
    this.#toldNoRoomAt = now
    this.#options.onNoRoom?.()
  }

  async #write(first: Waiting, record: Buffer): Promise<void> {
    if (this.#open && first.receivedAt < this.#open.receivedAt) void this.#seal()
    this.#open ??= await this.#openSegment(first)
    const open = this.#open
    try {
      await writeDurably(open.file, record, open.bytes)
    } catch (error) {
      // After a failed write nobody knows what the file holds past the last commit: cut there, go on in a new file.
      this.#abandon(open)
      throw error
    }
    open.bytes += record.length
    this.#spares.noteCommit(open.bytes)
    const isFull = open.bytes >= this.#options.segmentBytesMax
    const isOut = this.#spares.isReady && open.bytes + record.length > open.file.room
    if (isFull || isOut || this.#isDue) void this.#seal()
    else this.#sealIn(this.#options.sealAfterMs)
  }

  async #openSegment({ firstSeq, receivedAt }: Waiting): Promise<OpenSegment> {
    const name = `${this.spoolId}.${String(firstSeq).padStart(16, '0')}.open`
    const path = join(this.#options.directory, name)
    const spare = this.#spares.take()
    const file = await (spare ? takeSpare(spare, path) : createSegment(path))
    return { file, bytes: 0, receivedAt }
  }

  async #sealWhenDue(): Promise<void> {
    const { directory, sealAfterMs } = this.#options
    const due = this.#open
    this.#sealTimer = undefined
    const isBehind = await sealedIn(directory).then(
      (waiting) => waiting.length > 0,
      () => false,
    )
    // Full meanwhile: the one that is open now is young.
    if (due && this.#open !== due) return
    const mayWait = due !== null && due.bytes >= fastBytes && !due.hasWaited
    if (mayWait) due.hasWaited = true
    if (isBehind || mayWait) this.#sealIn(sealAfterMs)
    else if (this.#committing && this.#open) this.#isDue = true
    else void this.#seal()
  }

  #sealIn(ms: number): void {
    this.#sealTimer ??= setTimeout(() => void this.#sealWhenDue(), ms)
  }

  /** Gives the open segment to whoever ships, and with it those that could not be given before; in their order. */
  #seal(): Promise<void> {
    if (this.#open) this.#unsealed.push(this.#open)
    this.#open = null
    this.#isDue = false
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
        this.#seals++
        this.#options.onSealed(sealed)
      } catch {
        if (!this.#isClosed) this.#sealIn(this.#options.sealAfterMs)
      }
    }
  }

  async #measure(): Promise<void> {
    const seals = this.#seals
    const bytes = await sealedBytesIn(this.#options.directory)
    // One that was sealed meanwhile may not be among them.
    if (seals === this.#seals) this.#sealedBytes = bytes
  }

  /** Leaves a segment that a write failed on: it is cut to what was committed, and the next begins. */
  #abandon(segment: OpenSegment): void {
    this.#open = null
    try {
      truncateSync(segment.file.path, segment.bytes)
    } catch {
      // The disk refuses this too; the checksum of the torn record tells where to cut.
    }
    this.#unsealed.push({ ...segment, isTorn: true })
    this.#sealIn(this.#options.sealAfterMs)
  }
}

interface OpenSegment {
  file: SegmentFile
  /** By its first row. */
  receivedAt: number
  /** Committed so far. */
  bytes: number
  hasWaited?: boolean
  /** A write failed: the file may hold more than was committed. */
  isTorn?: boolean
}

/** It fills fast when it is so large when due: its rows cost ClickHouse a fifth less in one insert than in two. */
const fastBytes = 1024 * 1024

const measureMs = 1_000

/** How long one refusal of the disk counts, when nothing is written meanwhile. */
const troubleMs = 2_000
