import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { pixelConfigPlaceholder } from '../../schemas/beacon.ts'
import { packageRoot } from '../paths.ts'
import type { Pixel } from './pixels.ts'

/** A pixel's script in every encoding that it is served in. */
export interface PixelScript {
  etag: string
  identity: Buffer
  gzip: Buffer
  br: Buffer
}

const brotli = promisify(brotliCompress)
const gzipped = promisify(gzip)
const cachedMost = 1_000

/** Makes pixel scripts: the built pixel with one pixel's id and settings baked in, compressed once and kept. */
export function createPixelScripts(): (pixel: Pixel) => Promise<PixelScript> {
  const template = readFileSync(join(packageRoot, 'dist/pixel/pixel.js'), 'utf8')
  const [before, after] = template.split(pixelConfigPlaceholder)
  if (after === undefined)
    throw new Error('dist/pixel/pixel.js has no place for the settings: run npm run build')
  const cache = new Map<string, Promise<PixelScript>>()

  return (pixel) => {
    const { drop_bots: _, retention_days: __, ...settings } = pixel.settings
    const config = JSON.stringify({ pixel_id: pixel.pixelId, endpoint: '/e', settings })
    let script = cache.get(config)
    if (!script) {
      script = compress(before + config + after)
      if (cache.size >= cachedMost) cache.delete(cache.keys().next().value!)
      cache.set(config, script)
    }
    return script
  }
}

async function compress(source: string): Promise<PixelScript> {
  const identity = Buffer.from(source)
  const [br, gz] = await Promise.all([
    brotli(identity, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: identity.length },
    }),
    gzipped(identity, { level: 9 }),
  ])
  const etag = `"${createHash('sha256').update(identity).digest('base64url').slice(0, 22)}"`
  return { etag, identity, gzip: gz, br }
}
