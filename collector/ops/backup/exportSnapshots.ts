import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import type { ClickHouseTable, Column } from './manifest.ts'
import { type ObjectWriter, objectBytesMax } from './objectStore.ts'
import type { Snapshot } from './snapshotClickHouse.ts'

/** Parts are cut where a chunk has about this many bytes on ClickHouse's disk. */
const chunkBytes = objectBytesMax / 2

/** Rows of a part. Its name in the store tells the part and the position within it. */
interface Chunk {
  part: string
  identity: string
  from: number
  to: number
}

/**
 * Writes the rows of all snapshots, those of each shard after each other. ClickHouse never changes a part, so the store
 * has the chunks of every part that an earlier backup has seen.
 */
export async function exportSnapshots(
  snapshots: readonly Snapshot[],
  writer: ObjectWriter,
): Promise<ClickHouseTable[]> {
  const shards = new Set(snapshots.map(({ shard }) => shard))
  const tables = await Promise.all(
    [...shards].map((shard) =>
      exportShard(
        snapshots.filter((snapshot) => snapshot.shard === shard),
        writer,
      ),
    ),
  )
  return tables.flat()
}

async function exportShard(
  snapshots: readonly Snapshot[],
  writer: ObjectWriter,
): Promise<ClickHouseTable[]> {
  const tables: ClickHouseTable[] = []
  for (const snapshot of snapshots) {
    const { database, name, shard, columns } = snapshot
    const chunks: ClickHouseTable['chunks'] = []
    for (const chunk of await readChunks(snapshot)) {
      const object =
        (await writer.find(chunk.identity)) ??
        (await writer.save(chunk.identity, await readRows(snapshot, chunk)))
      chunks.push({ object, rows: chunk.to - chunk.from })
    }
    tables.push({ database, name, shard, columns, chunks })
  }
  return tables
}

async function readChunks({ clickhouse, copy, name, columns }: Snapshot): Promise<Chunk[]> {
  const parts = await clickhouse.rows<{ part: string; rows: number; bytes: number; hash: string }>({
    sql: `SELECT name AS part, rows, bytes_on_disk AS bytes, hash_of_all_files AS hash FROM system.parts
          WHERE database = currentDatabase() AND table = {copy:String} AND active AND rows > 0
          ORDER BY hash, part`,
    params: { copy },
  })
  const columnsHash = hashOf(columns)
  return parts.flatMap(({ part, rows, bytes, hash }) => {
    const count = Math.min(rows, Math.ceil(bytes / chunkBytes))
    const size = Math.ceil(rows / count)
    return Array.from({ length: Math.ceil(rows / size) }, (_, index) => ({
      part,
      identity: `${name}-${hash}-${columnsHash}-${index}-${size}`,
      from: index * size,
      to: Math.min(rows, (index + 1) * size),
    }))
  })
}

/** Columns that a migration adds change the rows of a part, but not the part. */
const hashOf = (columns: readonly Column[]): string =>
  createHash('sha256').update(JSON.stringify(columns)).digest('hex').slice(0, 16)

async function readRows(
  { clickhouse, copy, columns }: Snapshot,
  { part, from, to }: Chunk,
): Promise<Buffer> {
  const { body, rows } = await clickhouse.exportRows({
    sql: `SELECT ${columns.map((column) => column.name).join(', ')} FROM ${copy}
          WHERE _part = {part:String} AND _part_offset >= {from:UInt64} AND _part_offset < {to:UInt64}`,
    params: { part, from, to },
  })
  const bytes = await buffer(body)
  if (rows !== to - from)
    throw new Error(
      `${copy} returned ${rows} rows of the part ${part} instead of ${to - from}: another process has changed it. Start the backup again`,
    )
  return bytes
}
