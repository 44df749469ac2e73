import { readFileSync, rmSync } from 'node:fs'
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { keptDirectory, openDiskCache } from './diskCache.ts'

/** How many items one write encodes: the event loop serves others between two of them. */
const sliceItems = 250
/** A log of more lines than twice the items, and this many more, is replaced by a snapshot. */
const spareLines = 1_000
/** How long after a write that the disk refused the next is tried. */
const retryMs = 30_000

/** Source of a list in memory. */
export interface ListSource<T> {
  keyOf(item: T): string
  get(key: string): T | undefined
  all(): Iterable<T>
  size(): number
}

/** A copy on this machine's disk of a long list, for a start without PostgreSQL. */
export interface CachedList<T> {
  /** The list written last; undefined without one. */
  read(): T[] | undefined
  /** Writes the list: to be called when it is complete for the first time. Until then nothing is written. */
  begin(): void
  /** Writes what this key has now. */
  changed(key: string): void
  /** Writes what is not written yet. */
  close(): Promise<void>
}

/**
 * Opens the list of that name in the data directory: a snapshot, replaced atomically, and a line for each change after
 * it. Every line has a checksum, and the first damaged line ends the list: it is then as it was before. Writes are in
 * slices and off the event loop, and what one change writes does not depend on the length of the list.
 */
export function openCachedList<T>(
  dataDir: string,
  name: string,
  source: ListSource<T>,
): CachedList<T> {
  const directory = keptDirectory(dataDir)
  const path = join(directory, `${name}.log`)
  const dirty = new Set<string>()
  let file: FileHandle | null = null
  let hasBegun = false
  let needsSnapshot = true
  let lines = 0
  let writing: Promise<void> | null = null
  let retry: NodeJS.Timeout | undefined

  const writeSnapshot = async () => {
    const draft = `${path}.draft`
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const next = await open(draft, 'w', 0o600)
    try {
      // What changes from here on is written again, after the snapshot.
      dirty.clear()
      lines = 0
      for (const slice of slicesOf(source.all())) {
        await next.appendFile(slice.map((item) => lineOf<T>({ item })).join(''))
        lines += slice.length
      }
      await next.datasync()
      await rename(draft, path)
    } catch (error) {
      await next.close()
      await rm(draft, { force: true })
      throw error
    }
    const previous = file
    file = next
    needsSnapshot = false
    await previous?.close()
    // The copy of releases that wrote the list as one JSON text.
    rmSync(join(directory, `${name}.json`), { force: true })
  }
  const appendChanges = async () => {
    for (const keys of slicesOf(dirty)) {
      for (const key of keys) dirty.delete(key)
      const text = keys.map((key) => {
        const item = source.get(key)
        return lineOf<T>(item === undefined ? { removed: key } : { item })
      })
      // A line that was written in part would hide all that follow.
      needsSnapshot = true
      await file!.appendFile(text.join(''))
      needsSnapshot = false
      lines += keys.length
    }
    if (lines > 2 * source.size() + spareLines) needsSnapshot = true
  }
  const write = async () => {
    try {
      while (needsSnapshot || dirty.size > 0)
        await (needsSnapshot ? writeSnapshot() : appendChanges())
    } catch {
      // The disk is full: files on it stay unchanged.
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
    if (hasBegun && !retry && (needsSnapshot || dirty.size > 0)) writing ??= write()
  }
  return {
    read() {
      try {
        return readLog(readFileSync(path, 'utf8'), source.keyOf)
      } catch {
        return openDiskCache<T[]>(dataDir, name).read()
      }
    },
    begin() {
      hasBegun = true
      wake()
    },
    changed(key) {
      dirty.add(key)
      wake()
    },
    async close() {
      hasBegun = false
      await writing
      clearTimeout(retry)
      await file?.close()
    },
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
