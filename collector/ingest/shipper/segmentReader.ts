import { readFile, stat } from 'node:fs/promises'
import { decodeSegment } from '../spool/frame.ts'
import { receivedFirst } from '../spool/recover.ts'
import type { Deduplicator, Look } from './deduplicator.ts'

/** A segment as it was read. */
interface Segment {
  payloads: Buffer[]
  rows: number
  /** Null for tables whose rows have no event_id. */
  look: Look | null
  /** When its first row was received, or else it was begun, epoch milliseconds. */
  oldestAt: number
}

/** Reads segments one after the other, the next one while the one before is being inserted. */
export class SegmentReader {
  readonly #duplicates: Deduplicator | null
  #ahead: { path: string; segment: Promise<Segment> } | null = null

  constructor(duplicates: Deduplicator | null) {
    this.#duplicates = duplicates
  }

  async read(path: string): Promise<Segment> {
    const ahead = this.#ahead
    this.#ahead = null
    return ahead?.path === path ? ahead.segment : this.#readNow(path)
  }

  /** Begins to read a segment, where there is one and none is being read. */
  readAhead(path: string | undefined): void {
    if (path === undefined || this.#ahead) return
    const segment = this.#readNow(path)
    // If it cannot be read now, it is read again when its turn comes, and fails there.
    segment.catch(() => {
      this.#ahead = null
    })
    this.#ahead = { path, segment }
  }

  async #readNow(path: string): Promise<Segment> {
    const [bytes, { birthtimeMs }] = await Promise.all([readFile(path), stat(path)])
    const { payloads, rows } = decodeSegment(bytes)
    const look = this.#duplicates?.look(payloads, rows) ?? null
    return { payloads, rows, look, oldestAt: receivedFirst(bytes) || birthtimeMs }
  }
}

/** The payloads of a segment alone, of whose ids nobody asks. */
export const readPayloads = async (path: string): Promise<Buffer[]> =>
  decodeSegment(await readFile(path)).payloads
