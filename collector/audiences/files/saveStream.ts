import { createHash } from 'node:crypto'
import { mkdir, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { ResultStream } from '../../platform/clickhouse/client.ts'

/** A file has other rows than were asked for: somebody was hidden meanwhile, so it is written anew. */
export class RowsDiffer extends Error {}

/**
 * Writes what ClickHouse answers to a file of ours, durably: how long it is, and its sha256. Throws RowsDiffer, which
 * calls the file `name`, where it has not `rows` rows; what was written is gone then, as after any failure.
 */
export async function saveStream(
  result: ResultStream,
  path: string,
  { name, rows }: { name: string; rows: number },
): Promise<{ bytes: number; sha256: string }> {
  const sha256 = createHash('sha256')
  let bytes = 0
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    const file = await open(path, 'w', 0o600)
    try {
      for await (const piece of result.body) {
        await file.write(piece)
        sha256.update(piece)
        bytes += piece.length
      }
      await file.sync()
    } finally {
      await file.close()
    }
    if (result.rows !== rows) throw new RowsDiffer(`${name} has ${result.rows} of ${rows} rows`)
    return { bytes, sha256: sha256.digest('hex') }
  } catch (error) {
    result.body.destroy()
    await rm(path, { force: true })
    throw error
  }
}
