import { open, rename, unlink } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { decodeSegment } from '../spool/frame.ts'
import { inState, oldestAtOf, readOldestAt, syncDirectory } from '../spool/segmentFile.ts'

/** The rows of a batch in the form that a shipper sends. */
export interface ConsumedRows {
  /** JSONEachRow lines. */
  payloads: Buffer[]
  rows: number
  /** Lines of records that the disk has changed. */
  damaged: string[]
  /** When its first row was received, or else when the batch began; epoch milliseconds. */
  oldestAt: number
  /** The memory that contains the lines. */
  memory: Buffer
}

/**
 * The batches of one table's log, as its shipper sees them. A position names a batch: a segment's path in the spool,
 * consecutive messages in NATS.
 */
export interface LogBatches {
  /** Whether a batch has the same rows in each try, so that ClickHouse recognizes its token. */
  readonly isFixed: boolean
  /** Returns the name of a batch for queries and dead letters. */
  nameOf(position: string): string
  tokenOf(position: string): string
  /** Returns when a batch's first row, the earliest, was received; epoch milliseconds, 0 if unknown. */
  oldestAt(position: string): number
  /** Reads a batch into memory from `allocate`. */
  consume(position: string, allocate: (bytes: number) => Buffer): Promise<ConsumedRows>
  isCommitted(position: string): boolean
  /**
   * Records durably that ClickHouse has a batch. Resolves with the batch's new position, which is readable
   * until `forget`.
   */
  commit(position: string): Promise<string>
  forget(position: string): Promise<void>
}

/** The sealed segments of one table in a machine's spool. A position is the path of a segment. */
export const spoolBatches: LogBatches = {
  isFixed: true,
  nameOf: (path) => basename(path),
  // The name of the sealed file, also for a `.done` file, so that ClickHouse recognizes segments shipped
  // before a restart.
  tokenOf: (path) => basename(inState(path, 'seg')),
  oldestAt: readOldestAt,
  consume: readSegment,
  isCommitted: (path) => path.endsWith('.done'),
  async commit(path) {
    const done = inState(path, 'done')
    await rename(path, done)
    syncDirectory(dirname(path))
    return done
  },
  forget: (path) => unlink(path).catch(() => {}),
}

async function readSegment(
  path: string,
  allocate: (bytes: number) => Buffer,
): Promise<ConsumedRows> {
  const file = await open(path)
  try {
    const { size, birthtimeMs } = await file.stat()
    const memory = allocate(size)
    let read = 0
    for (let bytesRead = -1; read < size && bytesRead !== 0; read += bytesRead)
      ({ bytesRead } = await file.read(memory, read, size - read, read))
    const bytes = memory.subarray(0, read)
    return decodeBatch(bytes, memory, oldestAtOf(bytes) || birthtimeMs)
  } finally {
    await file.close()
  }
}

/** Returns the rows of records, which are the beginning of `memory`. */
export function decodeBatch(bytes: Buffer, memory: Buffer, oldestAt: number): ConsumedRows {
  const { payloads, rows, others } = decodeSegment(bytes)
  const damaged = others.flatMap((part) => part.toString().split('\n').filter(isRow))
  return { payloads: joinInPlace(payloads, memory), rows, damaged, oldestAt, memory }
}

/** Returns false for a header, or the rest of one. */
const isRow = (line: string): boolean => line.startsWith('{')

/** Moves the payloads of a segment together at the beginning of their memory. */
function joinInPlace(payloads: readonly Buffer[], memory: Buffer): Buffer[] {
  let end = 0
  for (const payload of payloads) end += payload.copy(memory, end)
  return end === 0 ? [] : [memory.subarray(0, end)]
}
