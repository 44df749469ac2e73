import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { bake, pixelConfig, variantFor, variants } from '../../../pixel/config.ts'
import type { PixelSettings } from '../../../schemas/beacon.ts'
import { buildRoot } from '../../platform/paths.ts'

/** A script in every encoding. */
export interface Script {
  /** Hash of the content, which is part of URLs. */
  version: string
  /** Value for the integrity attribute of a script tag. */
  integrity: string
  identity: Buffer
  gzip: Buffer
  br: Buffer
}

/** Scripts that pages load if the settings enable them, and the debugger. */
export const chunkNames = [
  'capture',
  'vitals',
  'embeds',
  'forms',
  'identify',
  'debug',
  'frustration',
] as const
export type ChunkName = (typeof chunkNames)[number]

interface PixelScripts {
  of(pixelId: string, settings: PixelSettings): Promise<Script>
  chunks: Record<ChunkName, Script>
}

const brotli = promisify(brotliCompress)
const gzipped = promisify(gzip)
const cachedMax = 1_000

/** Creates pixel scripts, which are compressed once and cached. Pages load them from `collectorUrl`. */
export async function createPixelScripts(collectorUrl: string): Promise<PixelScripts> {
  const folder = join(buildRoot, 'pixel')
  const compressed = chunkNames.map(async (name) => [
    name,
    await compress(readFileSync(join(folder, `${name}.js`), 'utf8')),
  ])
  const chunks = Object.fromEntries(await Promise.all(compressed)) as PixelScripts['chunks']
  const scriptFor = readScripts(folder, (name) => `${name}.${chunks[name].version}.js`)
  const cache = new Map<string, Promise<Script>>()

  return {
    chunks,
    of(pixelId, settings) {
      const source = scriptFor(pixelId, `${collectorUrl}/p/${pixelId}.js`, settings)
      let script = cache.get(source)
      if (!script) {
        script = compress(source)
        if (cache.size >= cachedMax) cache.delete(cache.keys().next().value!)
        cache.set(source, script)
      }
      return script
    },
  }
}

/**
 * Reads the built variants from a folder, and returns a function that creates the script of one pixel. Events
 * are sent to `e` next to the folder of the script. `fileOf` names the chunks, which are loaded from there.
 */
export function readScripts(folder: string, fileOf = (chunk: ChunkName) => `${chunk}.js`) {
  const built = (file: string) => readFileSync(join(folder, file), 'utf8')
  const templates = new Map(Object.keys(variants).map((file) => [file, built(file)]))
  const early = built('early.js')
  return (pixelId: string, scriptUrl: string, settings: PixelSettings): string => {
    const config = pixelConfig(pixelId, '../e', scriptUrl.replace(/[^/]*$/, ''), settings)
    const parts = [bake(templates.get(variantFor(config))!, config)]
    if (settings.web_vitals) parts.push(early)
    const files = chunksOf(settings).map(fileOf)
    if (files.length > 0) parts.push(loadChunks(files, scriptUrl))
    return parts.join('\n')
  }
}

function chunksOf(settings: PixelSettings): ChunkName[] {
  const names: ChunkName[] = []
  if (settings.web_vitals) names.push('vitals')
  if (settings.video_embeds) names.push('embeds')
  if (settings.identify_forms) names.push('forms')
  return names
}

/**
 * The end of a script with more features: loaded in idle time, and optional if blocked. An image of that name
 * would also be current; its chunks are not loaded.
 */
const loadChunks = (files: string[], scriptUrl: string): string =>
  `try{const s=document.currentScript,u=s instanceof HTMLScriptElement&&s.src||${JSON.stringify(scriptUrl)};(window.requestIdleCallback||setTimeout)(()=>${JSON.stringify(files)}.map(c=>import(new URL(c,u)).catch(()=>{})))}catch{}`

/** Compresses a script in every encoding, and names it by its content. */
export async function compress(source: string): Promise<Script> {
  const identity = Buffer.from(source)
  const [br, gz] = await Promise.all([
    brotli(identity, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 11,
        [constants.BROTLI_PARAM_SIZE_HINT]: identity.length,
      },
    }),
    gzipped(identity, { level: 9 }),
  ])
  const digest = (algorithm: string) => createHash(algorithm).update(identity)
  return {
    version: digest('sha256').digest('hex').slice(0, 16),
    integrity: `sha384-${digest('sha384').digest('base64')}`,
    identity,
    gzip: gz,
    br,
  }
}
