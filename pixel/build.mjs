/** Builds the pixel: pixel.js, which the collector serves, and index.js with its types for npm users. */
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const at = (path) => fileURLToPath(new URL(path, import.meta.url))

/** Both builds are of the same code, for browsers that know ES2020. */
async function bundle(entry, options) {
  const { outputFiles } = await build({
    entryPoints: [at(entry)],
    bundle: true,
    write: false,
    target: 'es2020',
    logLevel: 'warning',
    // Not the compiler options of the type check: they would add a directive to every script.
    tsconfigRaw: '{}',
    ...options,
  })
  return outputFiles[0].text
}

async function defaultSettings() {
  const code = await bundle('../schemas/beacon.ts', { format: 'esm', platform: 'node' })
  return (await import(`data:text/javascript,${encodeURIComponent(code)}`)).defaultPixelSettings
}

/** Writes the built files to outDir and answers the script's sizes in bytes: raw, gzip and brotli. */
export async function buildPixel({ outDir }) {
  const script = await bundle('src/script.ts', { format: 'iife', minify: true, mangleProps: /^_/ })
  const uses = script.split('__FOOTFALL_PIXEL_CONFIG__').length - 1
  if (uses !== 1)
    throw new Error(`pixel.js has ${uses} places for its configuration; the collector fills one`)
  const module = await bundle('src/index.ts', {
    format: 'esm',
    define: { __FOOTFALL_DEFAULT_SETTINGS__: JSON.stringify(await defaultSettings()) },
  })
  await mkdir(outDir, { recursive: true })
  await writeFile(join(outDir, 'pixel.js'), script)
  await writeFile(join(outDir, 'index.js'), module)
  await copyFile(at('footfall.d.ts'), join(outDir, 'index.d.ts'))
  const bytes = Buffer.from(script)
  // Node's brotli compresses at 11, its highest, when not told otherwise.
  return {
    raw: bytes.length,
    gzip: gzipSync(bytes, { level: 9 }).length,
    brotli: brotliCompressSync(bytes).length,
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log('pixel.js, bytes:', await buildPixel({ outDir: at('../dist/pixel') }))
}
