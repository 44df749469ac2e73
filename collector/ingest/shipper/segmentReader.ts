import { open, readFile } from 'node:fs/promises'
import { decodeSegment } from '../spool/frame.ts'
import { receivedFirst } from '../spool/recover.ts'
import type { Deduplicator, SegmentIds } from './deduplicator.ts'

/** A segment as it was read. */
interface Segment {
  /** The lines of all its records, one after the other. */
  payloads: Buffer[]
  rows: number
  /** The lines of records that the disk has changed. */
  damaged: string[]
  /** Null for tables whose rows have no event_id. */
  ids: SegmentIds | null
  /** When its first row was received, or, if the row does not say, when the file was created; epoch milliseconds. */
  oldestAt: number
  /** Holds the lines. Pass it to `release` when they are no longer needed. */
  memory: Buffer
}

const memoryBytesMin = 1024 * 1024

/**
 * Reads segments one after the other, the next one while the current one is inserted. It reuses memory: as much new
 * memory as a busy shipper needs would keep the garbage collector busy with the whole process.
 */
export class SegmentReader {
  readonly #duplicates: Deduplicator | null
  readonly #free: Buffer[] = []
  #ahead: { path: string; segment: Promise<Segment> } | null = null

  constructor(duplicates: Deduplicator | null) {
    this.#duplicates = duplicates
  }

  async read(path: string): Promise<Segment> {
    const ahead = this.#ahead
    this.#ahead = null
    return ahead?.path === path ? ahead.segment : this.#readNow(path)
  }

  /** Begins to read the next segment, if there is one and none is being read. */
  readAhead(path: string | undefined): void {
    if (path === undefined || this.#ahead) return
    const segment = this.#readNow(path)
    // If it cannot be read now, `read` tries again later, and reports the error.
    segment.catch(() => {
      this.#ahead = null
    })
    this.#ahead = { path, segment }
  }

  /** Takes back the memory of a segment. */
  release(memory: Buffer): void {
    this.#free.push(memory)
    // One for the segment that is inserted, one for the segment that is read ahead.
    if (this.#free.length > 2) this.#free.shift()
  }

  async #readNow(path: string): Promise<Segment> {
    const file = await open(path)
    try {
      const { size, birthtimeMs } = await file.stat()
      const memory = this.#take(size)
      let read = 0
      for (let bytesRead = -1; read < size && bytesRead !== 0; read += bytesRead)
        ({ bytesRead } = await file.read(memory, read, size - read, read))
      const bytes = memory.subarray(0, read)
      const oldestAt = receivedFirst(bytes) || birthtimeMs
      const { payloads, rows, others } = decodeSegment(bytes)
      const damaged = others.flatMap((part) => part.toString().split('\n').filter(isRow))
      const joined = joinInPlace(payloads, memory)
      const ids = this.#duplicates?.inspectIds(joined, rows) ?? null
      return { payloads: joined, rows, damaged, ids, oldestAt, memory }
    } finally {
      await file.close()
    }
  }

  #take(bytes: number): Buffer {
    const free = this.#free.findIndex(({ length }) => length >= bytes)
    if (free !== -1) return this.#free.splice(free, 1)[0]!
    return Buffer.allocUnsafeSlow(Math.max(memoryBytesMin, 2 ** Math.ceil(Math.log2(bytes))))
  }
}

/** False for a header, or the rest of one. */
const isRow = (line: string): boolean => line.startsWith('{')

/** Moves the payloads of a segment to the beginning of the memory that they lie in, one after the other. */
function joinInPlace(payloads: readonly Buffer[], memory: Buffer): Buffer[] {
  let end = 0
  for (const payload of payloads) end += payload.copy(memory, end)
  return end === 0 ? [] : [memory.subarray(0, end)]
}

/** The payloads of a segment alone; its ids are not inspected. */
export const readPayloads = async (path: string): Promise<Buffer[]> =>
  decodeSegment(await readFile(path)).payloads
