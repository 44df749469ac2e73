import { createSpare, removeSpare, type SegmentFile } from './segmentFile.ts'

/** After this many commits to one segment its spool is busy, and the next segment is preallocated. */
const busyCommits = 8
const roomMin = 1024 * 1024
/** An unused spare is removed after this time, because most spools are idle most of the time. */
const idleMsMax = 2_000

/** The next segment of a busy spool, preallocated while the current one is written: at most one, the spare. */
export class PreallocatedSegments {
  readonly #prefix: string
  readonly #roomMax: number
  #made = 0
  #commits = 0
  /** Bytes of the current segment, and of the previous one. */
  #bytes = 0
  #lastBytes = 0
  #spare: SegmentFile | null = null
  #making: Promise<void> | null = null
  #idle: NodeJS.Timeout | undefined
  #isClosed = false

  /**
   * `prefix`: the beginning of their paths, which is unique to this spool. `roomMax`: bytes of the largest
   * one.
   */
  constructor(prefix: string, roomMax: number) {
    this.#prefix = prefix
    this.#roomMax = roomMax
  }

  get isReady(): boolean {
    return this.#spare !== null
  }

  /** Call it after each commit with the bytes of the segment. */
  noteCommit(bytes: number): void {
    this.#commits++
    this.#bytes = bytes
    if (this.#commits < busyCommits || this.#spare || this.#making || this.#isClosed) return
    // Twice the previous size, because a spool that becomes busier has larger segments.
    const room = Math.min(this.#roomMax, Math.max(roomMin, 2 * Math.max(bytes, this.#lastBytes)))
    this.#making = createSpare(`${this.#prefix}.next${++this.#made}.spare`, room)
      .then((spare) => this.#keep(spare))
      // If the disk lacks space for a spare, the next segment grows as it is written.
      .catch(() => {})
      .finally(() => {
        this.#making = null
      })
  }

  /** Transfers the spare, if there is one, to the caller. */
  take(): SegmentFile | null {
    clearTimeout(this.#idle)
    this.#commits = 0
    this.#lastBytes = this.#bytes
    this.#bytes = 0
    const spare = this.#spare
    this.#spare = null
    return spare
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#making
    const spare = this.take()
    if (spare) await removeSpare(spare)
  }

  #keep(spare: SegmentFile): void {
    this.#spare = spare
    this.#idle = setTimeout(() => {
      const unused = this.take()
      if (unused) void removeSpare(unused)
    }, idleMsMax)
    this.#idle.unref()
  }
}
