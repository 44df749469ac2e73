import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { readScripts } from '../../collector/ingest/script/pixelScript.ts'
import { packageRoot } from '../../collector/platform/paths.ts'
import { defaultPixelSettings } from '../../schemas/beacon.ts'
import type { Row } from './rows.ts'

const bytesTarget = 2_300
const pixelId = '0b5f3c7e-9d2a-4c1b-8e6f-1a2b3c4d5e6f'

/** The pixel as one with the usual settings gets it. */
export async function pixelSize(): Promise<Row> {
  const scriptFor = readScripts(join(packageRoot, 'dist/pixel'))
  const source = scriptFor(
    pixelId,
    `https://collector.example/p/${pixelId}.js`,
    defaultPixelSettings,
  )
  // Node's brotli compresses at 11, its highest, when not told otherwise.
  const brotli = brotliCompressSync(source).length
  return {
    what: 'pixel size ÷ target, brotli-11',
    value: (brotli / bytesTarget).toFixed(2),
    target: `≤ ${bytesTarget} bytes`,
    detail: `${brotli} bytes (gzip ${gzipSync(source, { level: 9 }).length}, as it is ${source.length})`,
  }
}
