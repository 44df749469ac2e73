import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

/** A copy of a small PostgreSQL value on this machine's disk, for a start without PostgreSQL. */
interface DiskCache<T> {
  /** Returns the last written value, or undefined if there is none or it cannot be read. */
  read(): T | undefined
  /** Replaces the value atomically. Ignores errors of the disk, because the next write may succeed. */
  write(value: T): void
  /** Removes the value durably. Throws if the disk refuses. */
  remove(): void
}

export const keptDirectory = (dataDir: string): string => join(dataDir, 'kept')

/** A JSON file that only its owner may read. Lists use cachedList.ts. */
export function openDiskCache<T>(dataDir: string, name: string): DiskCache<T> {
  const path = join(keptDirectory(dataDir), `${name}.json`)
  return {
    read() {
      try {
        return JSON.parse(readFileSync(path, 'utf8')) as T
      } catch {
        return undefined
      }
    },
    write(value) {
      const draft = `${path}.${process.pid}`
      try {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
        writeFileSync(draft, JSON.stringify(value), { mode: 0o600 })
        renameSync(draft, path)
      } catch {
        // The disk is full: the previous value stays.
      }
    },
    remove() {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      rmSync(path, { force: true })
      const directory = openSync(dirname(path), 'r')
      fsyncSync(directory)
      closeSync(directory)
    },
  }
}
