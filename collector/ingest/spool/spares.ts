import { createSpare, removeSpare, type SegmentFile } from './segmentFile.ts'

/** After so many commits to one segment its spool is busy, and the next one is made ahead of time. */
const busyCommits = 8
const roomMin = 1024 * 1024
/** A spare that nobody needs is removed: most spools rest most of the time. */
const idleMsMax = 2_000

/** The next segment of a busy spool, made while the one before is written: never more than one. */
export class Spares {
  readonly #prefix: string
  readonly #roomMax: number
  #made = 0
  #commits = 0
  /** Of the segment that is written, and of the one before. */
  #bytes = 0
  #lastBytes = 0
  #spare: SegmentFile | null = null
  #making: Promise<void> | null = null
  #idle: NodeJS.Timeout | undefined
  #isClosed = false

  /** `prefix`: what their paths begin with; no other segment is called so. `roomMax`: bytes of the largest one. */
  constructor(prefix: string, roomMax: number) {
    this.#prefix = prefix
    this.#roomMax = roomMax
  }

  get isReady(): boolean {
    return this.#spare !== null
  }

  /** To be told of each commit, and how many bytes the segment has. */
  noteCommit(bytes: number): void {
    this.#commits++
    this.#bytes = bytes
    if (this.#commits < busyCommits || this.#spare || this.#making || this.#isClosed) return
    // Twice what the last one took: a spool that gets busier has larger segments, and each is an insert.
    const room = Math.min(this.#roomMax, Math.max(roomMin, 2 * Math.max(bytes, this.#lastBytes)))
    this.#making = createSpare(`${this.#prefix}.next${++this.#made}.spare`, room)
      .then((spare) => this.#keep(spare))
      // Without room for it on the disk the next segment grows as it is written.
      .catch(() => {})
      .finally(() => {
        this.#making = null
      })
  }

  /** The spare, if there is one: it is the caller's then. */
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
