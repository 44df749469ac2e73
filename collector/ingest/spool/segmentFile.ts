import {
  close,
  constants,
  fsync,
  ftruncate,
  open,
  readdir,
  rename,
  stat,
  unlink,
  write,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { inState } from './recover.ts'

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

/** A file that a spool writes. */
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

/** Creates a file that grows with its content. */
export async function createSegment(path: string): Promise<SegmentFile> {
  const fd = await files.open(path, durable | constants.O_CREAT | constants.O_EXCL, 0o600)
  await syncDirectoryOf(path)
  return { path, fd, room: 0 }
}

const zeros = Buffer.alloc(256 * 1024)

/** Creates a file of zeros ahead of time, `<…>.spare`. After a failure it leaves no file and rejects. */
export async function createSpare(path: string, room: number): Promise<SegmentFile> {
  const made = await files.open(path, 'wx', 0o600)
  try {
    for (let at = 0; at < room; )
      at += (await files.write(made, zeros, 0, Math.min(zeros.length, room - at), at)).bytesWritten
    await files.syncAll(made)
    await syncDirectoryOf(path)
    return { path, fd: await files.open(path, durable), room }
  } catch (error) {
    await files.unlink(path)
    throw error
  } finally {
    await files.close(made)
  }
}

/**
 * Renames a spare to the current segment. If a crash undoes the rename, the file is found under its old name.
 */
export async function takeSpare(spare: SegmentFile, path: string): Promise<SegmentFile> {
  await files.rename(spare.path, path)
  return { ...spare, path }
}

export async function removeSpare({ path, fd }: SegmentFile): Promise<void> {
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

/** Returns the size of the sealed segments of a directory. */
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
