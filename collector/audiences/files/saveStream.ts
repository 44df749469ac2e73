import { createHash } from 'node:crypto'
import { mkdir, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { ResultStream } from '../../platform/clickhouse/client.ts'

/** A file has other rows than requested, because a person was hidden meanwhile, so it is written again. */
export class RowsDiffer extends Error {}

/**
 * Writes a response of ClickHouse durably to a local file, and returns its length and sha256. Throws
 * RowsDiffer with `name` unless it has `rows` rows. After any failure the file is deleted.
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
