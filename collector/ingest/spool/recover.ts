import {
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  truncateSync,
  unlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { decodeSegment } from './frame.ts'
import { receivedAtOf } from './rowFields.ts'

/**
 * The states of a segment file. `.spare` is preallocated, and `.open` while its spool writes it. `.seg` is
 * sealed and waits to be shipped. `.done` is stored in ClickHouse, and stays for a while in case ClickHouse
 * loses it in a crash.
 */
export type SegmentState = 'spare' | 'open' | 'seg' | 'done'

export const inState = (path: string, state: SegmentState): string =>
  path.replace(/\.[a-z]+$/, `.${state}`)

/** The segments of a directory that are in a state, oldest first; none when there is no such directory. */
export function segmentsIn(directory: string, state: SegmentState): string[] {
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith(`.${state}`))
      .sort()
      .map((name) => join(directory, name))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/**
 * Seals the files that an ended process left open in its directory, each truncated to its complete records.
 * Returns all sealed segments that wait, oldest first. Only the directory's owner may call it, before it
 * writes.
 */
export function recoverSegments(directory: string): string[] {
  // A spare that was taken may have lost its new name in a crash.
  for (const path of [...segmentsIn(directory, 'open'), ...segmentsIn(directory, 'spare')])
    sealLeftover(path)
  syncDirectory(directory)
  return segmentsIn(directory, 'seg')
}

/** Cuts a segment's torn tail, makes the rest durable and seals it; an empty one is removed. */
export function sealLeftover(path: string): string | null {
  const { wholeBytes } = decodeSegment(readFileSync(path))
  if (wholeBytes === 0) {
    unlinkSync(path)
    return null
  }
  truncateSync(path, wholeBytes)
  const fd = openSync(path, 'r+')
  fsyncSync(fd)
  closeSync(fd)
  const sealed = inState(path, 'seg')
  renameSync(path, sealed)
  return sealed
}

/**
 * More bytes than the columns that all rows of a beacon share, including received_at, and those before them.
 */
const headBytes = 2_048

/** When the first row of a segment was received, epoch milliseconds: no row in it is earlier. 0 when it does not say. */
export function receivedFrom(segment: string): number {
  const fd = openSync(segment, 'r')
  try {
    const head = Buffer.alloc(headBytes)
    const length = readSync(fd, head, 0, headBytes, 0)
    return receivedFirst(head.subarray(0, length))
  } finally {
    closeSync(fd)
  }
}

/** The same of the bytes that a segment begins with. */
export const receivedFirst = (segment: Buffer): number =>
  Date.parse(receivedAtOf(segment.subarray(0, headBytes))) || 0

/** A file's name is durable only when its directory is. */
export function syncDirectory(directory: string): void {
  const fd = openSync(directory, 'r')
  fsyncSync(fd)
  closeSync(fd)
}
