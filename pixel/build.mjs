/** Builds the pixel: pixel.js, which the collector serves, its chunks, and index.js with its types for npm users. */
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { minify } from 'terser'

const at = (path) => fileURLToPath(new URL(path, import.meta.url))

/** Parts that pages load only where the settings, or someone who looks for a fault, ask for them. */
const chunks = ['vitals', 'embeds', 'debug']

/** One file of code for browsers that know ES2020. */
async function bundle(entry, options) {
  const { outputFiles } = await build({
    entryPoints: [at(entry)],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2020',
    charset: 'utf8',
    logLevel: 'warning',
    // Not the compiler options of the type check: they would add a directive to every script.
    tsconfigRaw: '{}',
    ...options,
  })
  return outputFiles[0].text
}

/** Terser goes further than esbuild: over a hundred bytes of the compressed pixel. */
async function minified(code) {
  const unsafe = { unsafe: true, unsafe_arrows: true, unsafe_methods: true, pure_getters: true }
  const compress = { ecma: 2020, passes: 4, keep_fargs: false, booleans_as_integers: true, ...unsafe }
  return (await minify(code, { ecma: 2020, compress, format: { ecma: 2020 } })).code
}

async function defaultSettings() {
  const code = await bundle('../schemas/beacon.ts', { platform: 'node' })
  return (await import(`data:text/javascript,${encodeURIComponent(code)}`)).defaultPixelSettings
}

/** Writes the built files to outDir and answers their sizes in bytes: raw, gzip and brotli. */
export async function buildPixel({ outDir }) {
  await mkdir(outDir, { recursive: true })
  const code = await bundle('src/start.ts')
  // Whatever goes wrong at the start: the host page must not notice.
  const script = await minified(`(()=>{try{${await bundle('src/start.ts', { minify: true })}}catch{}})()`)
  const uses = script.split('__FOOTFALL_PIXEL_CONFIG__').length - 1
  if (uses !== 1)
    throw new Error(`pixel.js has ${uses} places for its configuration; the collector fills one`)
  // The module is the script, with its configuration as a parameter.
  const options = await bundle('src/index.ts', {
    define: { __FOOTFALL_DEFAULT_SETTINGS__: JSON.stringify(await defaultSettings()) },
  })
  const module = `${options}
export const init = (options) => {
  const __FOOTFALL_PIXEL_CONFIG__ = configOf(options);
  if (!window.footfall?.on) {
    start(__FOOTFALL_PIXEL_CONFIG__);
    loadChunks(options);
  }
  return window.footfall;
};
const start = (__FOOTFALL_PIXEL_CONFIG__) => {
${code}};
`
  const files = { 'pixel.js': script, 'index.js': module }
  for (const name of chunks) files[`${name}.js`] = await bundle(`chunks/${name}.ts`, { minify: true })
  for (const [name, text] of Object.entries(files)) await writeFile(join(outDir, name), text)
  await copyFile(at('footfall.d.ts'), join(outDir, 'index.d.ts'))
  return Object.fromEntries(
    ['pixel.js', ...chunks.map((name) => `${name}.js`)].map((name) => [name, sizesOf(files[name])]),
  )
}

const sizesOf = (text) => {
  const bytes = Buffer.from(text)
  // Node's brotli compresses at 11, its highest, when not told otherwise.
  return {
    raw: bytes.length,
    gzip: gzipSync(bytes, { level: 9 }).length,
    brotli: brotliCompressSync(bytes).length,
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.table(await buildPixel({ outDir: at('../dist/pixel') }))
  console.log(await readFile(at('sizes.md'), 'utf8'))
}
