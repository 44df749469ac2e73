/** Builds the pixel: pixel.js, which the collector serves, its chunks, and index.js with its types for npm users. */
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { minify } from 'terser'
import { printSizes } from './sizes.mjs'

const at = (path) => fileURLToPath(new URL(path, import.meta.url))

/** Parts that pages load only if the settings require them, or for debugging. */
const chunks = ['capture', 'vitals', 'embeds', 'forms', 'identify', 'debug', 'frustration']

/**
 * Globals that pages may hide by a constant of their own, such as `const URL = …`. They are read from `window`, which no
 * page can hide.
 */
const globals =
  'Document HTMLFormElement URL JSON Math Date Reflect Blob crypto ShadowRoot HTMLScriptElement history navigator screen setTimeout localStorage innerHeight innerWidth Element HTMLIFrameElement Map MutationObserver Object PerformanceObserver Set TextEncoder Uint8Array WeakMap CSSStyleSheet performance'
const ofWindow = Object.fromEntries(globals.split(' ').map((name) => [name, `window.${name}`]))

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
    define: { ...(options?.platform === 'node' ? {} : ofWindow), ...options?.define },
  })
  return outputFiles[0].text
}

/**
 * The order in which short names are assigned. It was found by random exchanges, kept if brotli's output did
 * not grow.
 */
const letters = 'lsftdpUgqayehwDrumKxjJAIkXoSTBLENRVvcizFZ_nbWOQ$YPCGHM'
const nth_identifier = {
  get(nth) {
    const rest = Math.floor(nth / letters.length)
    return letters[nth % letters.length] + (rest > 0 ? this.get(rest - 1) : '')
  },
}

/** Terser compresses better than esbuild. The host page must not notice errors at the start. */
async function minified(code) {
  const unsafe = { unsafe: true, unsafe_arrows: true, unsafe_methods: true, pure_getters: true }
  const compress = {
    ecma: 2020,
    passes: 4,
    keep_fargs: false,
    booleans_as_integers: true,
    ...unsafe,
  }
  const options = {
    ecma: 2020,
    toplevel: true,
    compress,
    mangle: { nth_identifier },
    format: { ecma: 2020 },
  }
  const short = await minify(`try{${code}}catch{}`, options)
  // Block-scoped names, which the page cannot see.
  return short.code.replace(/\bvar /g, 'let ')
}

/** Asks V8 to compile everything at once. Compiling each function at its first call takes slow processors longer. */
const compiledAtOnce = '//# allFunctionsCalledOnLoad'

/** Modules of this repository that the build itself executes. */
async function load(entry) {
  const code = await bundle(entry, { platform: 'node' })
  return import(`data:text/javascript,${encodeURIComponent(code)}`)
}

/** Writes the built files to outDir and returns their sizes in bytes: raw, gzip and brotli. */
export async function buildPixel({ outDir }) {
  await mkdir(outDir, { recursive: true })
  const { defaultPixelSettings } = await load('../schemas/beacon.ts')
  const { bake, pixelConfig, placeholderOf, variants } = await load('config.ts')
  const [id, folder] = ['0b5f3c7e-9d2a-4c1b-8e6f-1a2b3c4d5e6f', 'https://collector.example/p/']
  const usual = pixelConfig(id, '../e', folder, defaultPixelSettings)
  const files = {}
  for (const [name, known] of Object.entries(variants)) {
    const inPlace = (key) => (key in known ? `${known[key]}` : placeholderOf(key))
    const define = Object.fromEntries(
      Object.keys(usual).map((key) => [`config.${key}`, inPlace(key)]),
    )
    files[name] = `${compiledAtOnce}
${await minified(await bundle('src/start.ts', { minify: true, define }))}`
  }
  // The module is the script, with its configuration as a parameter.
  const options = await bundle('src/index.ts', {
    define: { __FOOTFALL_DEFAULT_SETTINGS__: JSON.stringify(defaultPixelSettings) },
  })
  const module = `${options}
export const init = (options) => {
  const config = configOf(options);
  if (!window.footfall?.[config.queueName]) {
    try {
      start(config);
    } catch {}
    loadChunks(options);
  }
  return window.footfall;
};
const start = (config) => {
${await bundle('src/start.ts')}};
`
  files['index.js'] = module
  for (const name of chunks) {
    // web-vitals gets an observer of ours, which `window` does not have.
    const more =
      name === 'vitals'
        ? {
            inject: [at('chunks/earlyObserver.ts')],
            define: { PerformanceObserver: 'PerformanceObserver' },
          }
        : {}
    files[`${name}.js`] = await bundle(`chunks/${name}.ts`, { minify: true, ...more })
  }
  files['early.js'] = await minified(await bundle('chunks/early.ts', { minify: true }))
  for (const [name, text] of Object.entries(files)) await writeFile(join(outDir, name), text)
  await copyFile(at('footfall.d.ts'), join(outDir, 'index.d.ts'))
  // The size of a script is measured with default settings for everything else.
  const served = {}
  for (const name of Object.keys(variants)) served[name] = bake(files[name], usual)
  for (const name of [...chunks, 'early']) served[`${name}.js`] = files[`${name}.js`]
  return Object.fromEntries(Object.entries(served).map(([name, text]) => [name, sizesOf(text)]))
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
  printSizes(await buildPixel({ outDir: at('../dist/pixel') }))
}
