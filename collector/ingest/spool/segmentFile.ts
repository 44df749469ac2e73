import {
  close,
  closeSync,
  constants,
  fsync,
  fsyncSync,
  ftruncate,
  open,
  openSync,
  readdir,
  readdirSync,
  readFileSync,
  readSync,
  rename,
  renameSync,
  stat,
  truncateSync,
  unlink,
  unlinkSync,
  write,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { decodeSegment } from './frame.ts'
import { receivedAtOf } from './rowFields.ts'

/**
 * The states of a segment file. `.spare` is preallocated, and `.open` while its spool writes it. `.seg` is
 * sealed and waits to be shipped. `.done` is stored in ClickHouse, and stays for a while in case ClickHouse
 * loses it in a crash.
 */
type SegmentState = 'spare' | 'open' | 'seg' | 'done'

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

// File operations that may wait for the file system's journal, so they run off the event loop.
const files = {
  open: promisify(open),
  write: promisify(write),
  syncAll: promisify(fsync),
  truncate: promisify(ftruncate),
  close: promisify(close),
  rename: promisify(rename),
  unlink: promisify(unlink),
  readdir: promisify(readdir),
  stat: promisify(stat),
}

export interface SegmentFile {
  path: string
  /** Null after it was closed. */
  fd: number | null
  /**
   * Bytes of zeros that were on disk before the first row. Overwriting them changes nothing else of the file.
   * So a write does not wait for the file system's journal and the writes of others. It takes half the time,
   * and a tenth in the worst case.
   */
  room: number
}

/** A write to such a file returns when it is durable: one system call instead of write and fdatasync. */
const durable = constants.O_WRONLY | constants.O_DSYNC

export async function createSegment(path: string): Promise<SegmentFile> {
  const fd = await files.open(path, durable | constants.O_CREAT | constants.O_EXCL, 0o600)
  await syncDirectoryOf(path)
  return { path, fd, room: 0 }
}

const zeros = Buffer.alloc(256 * 1024)

/** Creates a file of zeros ahead of time, `<…>.spare`. After a failure it leaves no file and rejects. */
async function createSpare(path: string, room: number): Promise<SegmentFile> {
  const file = await files.open(path, 'wx', 0o600)
  try {
    for (let at = 0; at < room; )
      at += (await files.write(file, zeros, 0, Math.min(zeros.length, room - at), at)).bytesWritten
    await files.syncAll(file)
    await syncDirectoryOf(path)
    return { path, fd: await files.open(path, durable), room }
  } catch (error) {
    await files.unlink(path)
    throw error
  } finally {
    await files.close(file)
  }
}

/** Renames a spare. If a crash undoes that, the file is found under its old name. */
export async function takeSpare(spare: SegmentFile, path: string): Promise<SegmentFile> {
  await files.rename(spare.path, path)
  return { ...spare, path }
}

async function removeSpare({ path, fd }: SegmentFile): Promise<void> {
  await files.unlink(path).catch(() => {})
  if (fd !== null) await files.close(fd)
}

/** Writes all of `bytes` at `at`; resolves when they are durable. */
export async function writeDurably({ fd }: SegmentFile, bytes: Buffer, at: number): Promise<void> {
  for (let written = 0; written < bytes.length; )
    written += (await files.write(fd!, bytes, written, bytes.length - written, at + written))
      .bytesWritten
}

/** Truncates a file to `bytes` and gives it its final name. It may be repeated. */
export async function sealSegment(file: SegmentFile, bytes: number): Promise<string> {
  if (file.fd !== null && file.room > bytes) await files.truncate(file.fd, bytes)
  await closeSegment(file)
  const sealed = inState(file.path, 'seg')
  await files.rename(file.path, sealed)
  return sealed
}

export async function closeSegment(file: SegmentFile): Promise<void> {
  const { fd } = file
  file.fd = null
  if (fd !== null) await files.close(fd)
}

/** Makes a file's name durable, which requires a sync of its directory. */
async function syncDirectoryOf(path: string): Promise<void> {
  const fd = await files.open(dirname(path), 'r')
  await files.syncAll(fd).finally(() => files.close(fd))
}

/** Returns the sealed segments of a directory that are not shipped yet, in no order. */
export async function sealedIn(directory: string): Promise<string[]> {
  const names = await files.readdir(directory)
  return names.filter((name) => name.endsWith('.seg')).map((name) => join(directory, name))
}

export async function sealedBytesIn(directory: string): Promise<number> {
  const sizes = await Promise.all(
    // A segment may be shipped meanwhile.
    (await sealedIn(directory)).map((path) =>
      files.stat(path).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
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

/** When the first, and so earliest, row of a segment was received; 0 if unknown. */
export function readOldestAt(segment: string): number {
  const fd = openSync(segment, 'r')
  try {
    const head = Buffer.alloc(headBytes)
    const length = readSync(fd, head, 0, headBytes, 0)
    return oldestAtOf(head.subarray(0, length))
  } finally {
    closeSync(fd)
  }
}

/** Returns the time of receipt from the first bytes of a segment. */
export const oldestAtOf = (segment: Buffer): number =>
  Date.parse(receivedAtOf(segment.subarray(0, headBytes))) || 0

/** Makes file names durable, which requires a sync of their directory. */
export function syncDirectory(directory: string): void {
  const fd = openSync(directory, 'r')
  fsyncSync(fd)
  closeSync(fd)
}

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

  /** `prefix` is unique to this spool. `roomMax`: bytes of the largest segment. */
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
