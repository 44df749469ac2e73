import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildPixel } from '../../pixel/build.mjs'
import type { Row } from './rows.ts'

const bytesTarget = 2_400

/** The pixel as one with the usual settings gets it. */
export async function pixel(): Promise<Row> {
  const outDir = mkdtempSync(join(tmpdir(), 'footfall-bench-'))
  try {
    const { raw, gzip, brotli } = (await buildPixel({ outDir }))['pixel.js']!
    return {
      what: 'pixel size ÷ target, brotli-11',
      value: (brotli / bytesTarget).toFixed(2),
      target: `≤ ${bytesTarget} bytes`,
      detail: `${brotli} bytes (gzip ${gzip}, as it is ${raw})`,
    }
  } finally {
    rmSync(outDir, { recursive: true })
  }
}
