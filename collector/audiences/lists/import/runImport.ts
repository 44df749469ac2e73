import { open } from 'node:fs/promises'
import { clickhouseOf } from '../../../events/query/eventStores.ts'
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
}

/** How long an import waits for the end of another one of its list. */
const listWaitMs = 60_000

/**
 * Imports an uploaded file, chunk by chunk; one that was broken off anywhere is done by calling it again. What became of
 * its rows; undefined where there is nothing to do, because it has ended or was deleted. Throws LeaseHeldError when another
 * import of the list takes long to end.
 */
export async function runImport(
  deps: ImportDeps,
  importId: string,
  signal?: AbortSignal,
): Promise<RowCounts | undefined> {
  const { postgres, uploads } = deps
  const pending = await beginImport(postgres, importId)
  if (!pending) return undefined
  const clickhouse = clickhouseOf(deps, pending.organizationId)
  const total = await insertRows(deps, clickhouse, pending, signal)
  // Imports of a list end one after the other: what two of them bring is a duplicate of one.
  const counts = await withLease(
    postgres,
    pending.listId,
    async (lease) => {
      const notCompleted = await readNotCompleted(postgres, [pending.listId])
      const found = await countRows(clickhouse, { ...pending, total, notCompleted })
      await lease.inTransaction((client) => completeImport(client, pending, found))
      return found
    },
    listWaitMs,
  )
  await uploads.remove(importId)
  return counts
}

/** Inserts what is left of the file, two chunks at a time; how many rows all of it has. */
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
      // It is waited for when the next one is under way.
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
