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

/** Returns the segments of a directory in a state, oldest first; none if the directory does not exist. */
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
 * Returns all sealed segments that are not shipped, oldest first. Only the directory's owner may call it,
 * before it writes.
 */
export function recoverSegments(directory: string): string[] {
  // A crash may have undone the rename of a spare in use.
  for (const path of [...segmentsIn(directory, 'open'), ...segmentsIn(directory, 'spare')])
    sealLeftover(path)
  syncDirectory(directory)
  return segmentsIn(directory, 'seg')
}

/** Truncates a torn segment, makes the rest durable and seals it; an empty one is removed. */
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

/** More bytes than the columns before and including received_at. */
const headBytes = 2_048

/**
 * Returns when the first, and so earliest, row of a segment was received, epoch milliseconds; 0 if unknown.
 */
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

/** Returns the time of receipt from the first bytes of a segment. */
export const receivedFirst = (segment: Buffer): number =>
  Date.parse(receivedAtOf(segment.subarray(0, headBytes))) || 0

/** Makes file names durable, which requires a sync of their directory. */
export function syncDirectory(directory: string): void {
  const fd = openSync(directory, 'r')
  fsyncSync(fd)
  closeSync(fd)
}
