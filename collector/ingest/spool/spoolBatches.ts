import { open, rename, unlink } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import type { ConsumedRows, LogBatches } from '../log/eventLog.ts'
import { decodeSegment } from './frame.ts'
import { inState, oldestAtOf, readOldestAt, syncDirectory } from './segmentFile.ts'

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
