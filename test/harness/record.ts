import { FrameEncoder } from '../../collector/ingest/spool/frame.ts'

/** One record of a segment, as a spool writes it. */
export function recordOf(rows: readonly string[], spoolId: string, firstSeq: number): Buffer {
  const encoder = new FrameEncoder()
  for (const [at, row] of rows.entries())
    encoder.add(row, `,"spool_id":"${spoolId}","seq":${firstSeq + at}}\n`)
  return encoder.finish()
}
