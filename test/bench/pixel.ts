import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { packageRoot } from '../../collector/paths.ts'
import type { Row } from './rows.ts'

const bytesTarget = 2_400

/** The built pixel as it is served. */
export async function pixel(): Promise<Row> {
  const source = readFileSync(join(packageRoot, 'dist/pixel/pixel.js'))
  const brotli = brotliCompressSync(source, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).length
  const gzip = gzipSync(source, { level: 9 }).length
  return {
    what: 'pixel size ÷ target, brotli-11',
    value: (brotli / bytesTarget).toFixed(2),
    target: `≤ ${bytesTarget} bytes`,
    detail: `${brotli} bytes (gzip ${gzip}, as it is ${source.length})`,
  }
}
