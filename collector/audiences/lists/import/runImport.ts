import { open } from 'node:fs/promises'
import type { Allowance } from '../../../billing/allowance.ts'
import { clickhouseOf } from '../../../events/query/eventStores.ts'
import { erasedHems } from '../../../events/query/profiles/suppressedPeople.ts'
import type { ClickHouse } from '../../../platform/clickhouse/client.ts'
import { withLease } from '../../../platform/postgres/lease.ts'
import type { Postgres } from '../../../platform/postgres/pool.ts'
import { type Chunk, chunkBytes, readChunk } from '../file/readChunk.ts'
import {
  beginImport,
  completeImport,
  noteProgress,
  type PendingImport,
  type RowCounts,
  readNotCompleted,
} from '../imports.ts'
import type { Uploads } from '../upload/uploads.ts'
import { countRows } from './countRows.ts'
import { insertChunk } from './insertChunk.ts'

export interface ImportDeps {
  readonly postgres: Postgres
  readonly clickhouse: Readonly<Record<'live' | 'test', ClickHouse>>
  readonly uploads: Uploads
  /** Each import takes a free answer from it. */
  readonly allowance: Pick<Allowance, 'takeForWork'>
}

/** How long an import waits for the end of another one of its list. */
const listWaitMs = 60_000

/**
 * Imports an uploaded file in chunks; another call continues an interrupted import. Returns the counts of its
 * rows; undefined if the import has ended or was deleted. Throws LeaseHeldError if another import of the list
 * takes too long to end.
 */
export async function runImport(
  deps: ImportDeps,
  importId: string,
  signal?: AbortSignal,
): Promise<RowCounts | undefined> {
  const { postgres, uploads, allowance } = deps
  const pending = await beginImport(postgres, importId)
  if (!pending) return undefined
  const clickhouse = clickhouseOf(deps, pending.organizationId)
  const total = await insertRows(deps, clickhouse, pending, signal)
  // Imports of a list end one after another, so that a member of two imports is a duplicate in one.
  const counts = await withLease(
    postgres,
    pending.listId,
    async (lease) => {
      const notCompleted = await readNotCompleted(postgres, [pending.listId])
      const erased = await erasedHems(postgres, pending.organizationId)
      const rowCounts = await countRows(clickhouse, { ...pending, total, notCompleted, erased })
      await lease.inTransaction((client) => completeImport(client, allowance, pending, rowCounts))
      return rowCounts
    },
    listWaitMs,
  )
  await uploads.remove(importId)
  return counts
}

/** Inserts the rest of the file, two chunks at a time, and returns the number of all rows. */
async function insertRows(
  { postgres, uploads }: ImportDeps,
  clickhouse: ClickHouse,
  pending: PendingImport,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { importId, file } = pending
  const handle = await open(uploads.pathOf(importId))
  const buffers = [Buffer.allocUnsafeSlow(chunkBytes), Buffer.allocUnsafeSlow(chunkBytes)] as const
  let { at, rows } = pending
  let before: { chunk: Chunk; inserted: Promise<void> } | null = null
  const settle = async (): Promise<void> => {
    if (!before) return
    const { chunk, inserted } = before
    await inserted
    rows += chunk.rows
    await noteProgress(postgres, importId, chunk.begin, { at: chunk.end, rows })
    before = null
  }
  try {
    for (let turn = 0; ; turn++) {
      signal?.throwIfAborted()
      const chunk: Chunk | null = await readChunk(handle, file, at, buffers[turn % 2]!)
      if (!chunk) break
      at = chunk.end
      const inserted = insertChunk(clickhouse, pending, chunk)
      // Awaited after the next chunk has started.
      inserted.catch(() => {})
      await settle()
      before = { chunk, inserted }
    }
    await settle()
    return rows
  } finally {
    await Promise.allSettled(before ? [(before as { inserted: Promise<void> }).inserted] : [])
    await handle.close()
  }
}
