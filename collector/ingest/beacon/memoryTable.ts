import { isDeepStrictEqual } from 'node:util'
import { openCachedList } from '../../platform/cachedList.ts'
import { listenNotify } from '../../platform/postgres/listenNotify.ts'

/** A table of PostgreSQL in this process's memory, so that a beacon queries no database. */
interface MemoryTable<T> {
  get(key: string): T | undefined
  has(key: string): boolean
  readonly size: number
  close(): Promise<void>
}

interface TableSource<T> {
  url: string
  /** The channel on which PostgreSQL announces changes, and the name of the copy on disk. */
  name: string
  keyOf(item: T): string
  /** Whether to start without PostgreSQL and without a copy on disk, instead of refusing. */
  isEmptyWithoutCopy?: true
  /** Reads the rows after `after`, in the order of their ids; `next` is null after the last ones. */
  readPage(after: string): Promise<{ items: T[]; next: string | null }>
  /** Reads the changes in announcements: the current items, and the keys of deleted ones. */
  readChanges(payloads: readonly string[]): Promise<{ items: T[]; removed: string[] }>
}

/** Returns the reads of a table whose changes are announced by id. `read` returns the items that meet an SQL condition. */
export const readsById = <T>(
  column: string,
  keyOf: (item: T) => string,
  rowsOfPage: number,
  read: (condition: string, values: unknown[]) => Promise<T[]>,
): Pick<TableSource<T>, 'keyOf' | 'readPage' | 'readChanges'> => ({
  keyOf,
  async readPage(after) {
    const items = await read(`${column} > $1 ORDER BY ${column} LIMIT $2`, [after, rowsOfPage])
    const last = items[rowsOfPage - 1]
    return { items, next: last ? keyOf(last) : null }
  },
  async readChanges(ids) {
    const items = await read(`${column} = ANY($1)`, [ids])
    const existing = new Set(items.map(keyOf))
    return { items, removed: ids.filter((id) => !existing.has(id)) }
  },
})

/** How many rows a page of `readPage` has: parsing them must not delay acknowledgements. */
export const pageRows = 250
/** Interval between complete reads, which recover a missed change. */
const loadEveryMs = 60_000
/** An id before that of every row. */
const firstId = '00000000-0000-0000-0000-000000000000'

/**
 * Reads the table page by page and follows its changes. If PostgreSQL is unavailable at the start, it uses
 * the copy in `dataDir`, which this process writes if it `keeps` it.
 */
export async function openMemoryTable<T>(
  source: TableSource<T>,
  { dataDir, keeps }: { dataDir: string; keeps: boolean },
): Promise<MemoryTable<T>> {
  const items = new Map<string, T>()
  const { keyOf } = source
  const list = openCachedList<T>(dataDir, source.name, {
    keyOf,
    get: (key) => items.get(key),
    all: () => items.values(),
    size: () => items.size,
  })
  /** For each running read of the complete table: earlier entries that it has not found yet. */
  const readings = new Set<Set<string>>()
  const put = (item: T) => {
    const key = keyOf(item)
    for (const unseen of readings) unseen.delete(key)
    if (isDeepStrictEqual(items.get(key), item)) return
    items.set(key, item)
    if (keeps) list.changed(key)
  }
  const remove = (key: string) => {
    if (items.delete(key) && keeps) list.changed(key)
  }
  const following = await listenNotify({
    url: source.url,
    channel: source.name,
    loadEveryMs,
    restore() {
      const copied = list.read()
      for (const item of copied ?? []) items.set(keyOf(item), item)
      return copied !== undefined || source.isEmptyWithoutCopy === true
    },
    async load(step) {
      const unseen = new Set(items.keys())
      readings.add(unseen)
      try {
        const readFrom = async (after: string) => {
          const page = await source.readPage(after)
          for (const item of page.items) put(item)
          return page.next
        }
        // A change waits for one page, instead of all of them.
        for (let after: string | null = firstId; after !== null; ) {
          const from: string = after
          after = await step(() => readFrom(from))
        }
        for (const key of unseen) remove(key)
      } finally {
        readings.delete(unseen)
      }
      if (keeps) list.begin()
    },
    async changed(payloads) {
      const { items: changed, removed } = await source.readChanges(payloads)
      for (const item of changed) put(item)
      for (const key of removed) remove(key)
    },
  })
  return {
    get: (key) => items.get(key),
    has: (key) => items.has(key),
    get size() {
      return items.size
    },
    async close() {
      await following.close()
      await list.close()
    },
  }
}
