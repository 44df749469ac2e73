import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A copy on this machine's disk of what PostgreSQL has, for a start while it is away. */
export interface KeptCopy<T> {
  /** What was written last; undefined when nothing was, or it cannot be read. */
  read(): T | undefined
  /** Replaces it, as a whole or not at all. What the disk refuses is told to nobody: the next one may do. */
  write(value: T): void
}

/** Opens the copy of that name in the data directory: JSON that only its owner may read. */
export function openKeptCopy<T>(dataDir: string, name: string): KeptCopy<T> {
  const path = join(dataDir, 'kept', `${name}.json`)
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
        // The disk is full: what was written before stays.
      }
    },
  }
}

/**
 * Writes a copy whenever its original has changed: many changes within a second are one, and after a large one has
 * taken long, within more. `changed` is to be called after each change; `stop` writes what is not written yet.
 */
export function keepUpToDate(write: () => void): { changed(): void; stop(): void } {
  let timer: NodeJS.Timeout | null = null
  let waitMs = 0
  const writeNow = () => {
    timer = null
    const startedAt = performance.now()
    write()
    waitMs = Math.max(writeMs, (performance.now() - startedAt) * restShare)
  }
  return {
    changed() {
      timer ??= setTimeout(writeNow, waitMs)
      timer.unref()
    },
    stop() {
      if (!timer) return
      clearTimeout(timer)
      writeNow()
    },
  }
}

const writeMs = 1_000
/** So many times as long as a copy took to write, nothing is written. */
const restShare = 20
