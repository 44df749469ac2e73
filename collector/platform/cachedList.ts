import { readFileSync, rmSync } from 'node:fs'
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { keptDirectory, openDiskCache } from './diskCache.ts'

/** Items per write. The event loop handles other work between two writes. */
const sliceItems = 250
/** A snapshot replaces the log when it has more lines than twice the items plus this number. */
const spareLines = 1_000
/** Delay before the next attempt after a failed write. */
const retryMs = 30_000

interface ListSource<T> {
  keyOf(item: T): string
  get(key: string): T | undefined
  all(): Iterable<T>
  size(): number
}

/** A copy of a long list on this machine's disk, for a start without PostgreSQL. */
interface CachedList<T> {
  /** Returns the last written list, or undefined if there is none. */
  read(): T[] | undefined
  /** Writes the list. Call it once the list is complete; nothing is written earlier. */
  begin(): void
  changed(key: string): void
  /** Writes all pending changes. */
  close(): Promise<void>
}

/**
 * Opens the list `name` in the data directory: a snapshot, which is replaced atomically, and one line for
 * each later change. Each line has a checksum, and reading ends at the first damaged line. Writes run in
 * slices off the event loop. The cost of writing a change does not depend on the length of the list.
 */
export function openCachedList<T>(
  dataDir: string,
  name: string,
  source: ListSource<T>,
): CachedList<T> {
  const log = openLog(keptDirectory(dataDir), name, source)
  let hasBegun = false
  let writing: Promise<void> | null = null
  let retry: NodeJS.Timeout | undefined

  const write = async () => {
    try {
      await log.write()
    } catch {
      // The disk is full: its files stay unchanged.
      retry = setTimeout(() => {
        retry = undefined
        wake()
      }, retryMs)
      retry.unref()
    } finally {
      writing = null
    }
  }
  const wake = () => {
    if (hasBegun && !retry && log.isPending()) writing ??= write()
  }
  return {
    read() {
      try {
        return log.read()
      } catch {
        return openDiskCache<T[]>(dataDir, name).read()
      }
    },
    begin() {
      hasBegun = true
      wake()
    },
    changed(key) {
      log.changed(key)
      wake()
    },
    async close() {
      hasBegun = false
      await writing
      clearTimeout(retry)
      await log.close()
    },
  }
}

/** The files of a list, and the changes that wait to be written. */
function openLog<T>(directory: string, name: string, source: ListSource<T>) {
  const path = join(directory, `${name}.log`)
  const dirty = new Set<string>()
  let file: FileHandle | null = null
  let needsSnapshot = true
  let lines = 0

  const isPending = () => needsSnapshot || dirty.size > 0
  const writeSnapshot = async () => {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const next = await replaceFile(path, async (draft) => {
      // Later changes are appended after the snapshot.
      dirty.clear()
      lines = 0
      for (const slice of slicesOf(source.all())) {
        await draft.appendFile(slice.map((item) => lineOf<T>({ item })).join(''))
        lines += slice.length
      }
    })
    const previous = file
    file = next
    needsSnapshot = false
    await previous?.close()
    // Earlier releases wrote the list to this file as one JSON text.
    rmSync(join(directory, `${name}.json`), { force: true })
  }
  const appendChanges = async () => {
    for (const keys of slicesOf(dirty)) {
      for (const key of keys) dirty.delete(key)
      const text = keys.map((key) => {
        const item = source.get(key)
        return lineOf<T>(item === undefined ? { removed: key } : { item })
      })
      // A partly written line would hide all following lines.
      needsSnapshot = true
      await file!.appendFile(text.join(''))
      needsSnapshot = false
      lines += keys.length
    }
    if (lines > 2 * source.size() + spareLines) needsSnapshot = true
  }
  return {
    read: () => readLog(readFileSync(path, 'utf8'), source.keyOf),
    changed: (key: string) => dirty.add(key),
    isPending,
    async write() {
      while (isPending()) await (needsSnapshot ? writeSnapshot() : appendChanges())
    },
    close: async () => file?.close(),
  }
}

/** Replaces a file with what `write` writes. Returns the new file, still open. */
async function replaceFile(
  path: string,
  write: (draft: FileHandle) => Promise<void>,
): Promise<FileHandle> {
  const draft = `${path}.draft`
  const file = await open(draft, 'w', 0o600)
  try {
    await write(file)
    await file.datasync()
    await rename(draft, path)
    return file
  } catch (error) {
    await file.close()
    await rm(draft, { force: true })
    throw error
  }
}

type Line<T> = { item: T } | { removed: string }

const lineOf = <T>(line: Line<T>): string => {
  const text = JSON.stringify(line)
  return `${checksumOf(text)} ${text}\n`
}

const checksumOf = (text: string): string => crc32(text).toString(16).padStart(checksumLength, '0')
const checksumLength = 8

function readLog<T>(log: string, keyOf: (item: T) => string): T[] {
  const items = new Map<string, T>()
  for (const each of log.split('\n')) {
    const text = each.slice(checksumLength + 1)
    if (text === '' || each.slice(0, checksumLength) !== checksumOf(text)) break
    const line = JSON.parse(text) as Line<T>
    if ('item' in line) items.set(keyOf(line.item), line.item)
    else items.delete(line.removed)
  }
  return [...items.values()]
}

function* slicesOf<T>(items: Iterable<T>): Generator<T[]> {
  let slice: T[] = []
  for (const item of items) {
    slice.push(item)
    if (slice.length < sliceItems) continue
    yield slice
    slice = []
  }
  if (slice.length > 0) yield slice
}
