/**
 * Builds the pages of the dashboard and the assets of the documentation. These are scripts, stylesheets and an icon with hashed names, and the HTML shell. docs.json lists the addresses for the documentation.
 */
import { createHash } from 'node:crypto'
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { build } from 'esbuild'

const flagsPackage = createRequire(import.meta.url).resolve('country-flag-icons/package.json')
const { version: flagsVersion } = JSON.parse(await readFile(flagsPackage, 'utf8'))

const at = (path) => fileURLToPath(new URL(path, import.meta.url))

/** The icons of the navigation: one file, which pages keep for ever under the name of its content. */
const navIcons = await readFile(at('web/icons/navigation/navigation.svg'))
const navIconsName = `navigation-${createHash('sha256').update(navIcons).digest('hex').slice(0, 8)}.svg`

/** Imports files of examples/ as text. */
const examplesAsText = {
  name: 'examples as text',
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]examples[/\\]/ }, async ({ path }) => ({
      contents: await readFile(path, 'utf8'),
      loader: 'text',
    }))
  },
}

/** Encodings of a file, by the suffix of its name. */
const encodings = { '': (bytes) => bytes, '.br': promisify(brotliCompress), '.gz': promisify(gzip) }

/** Writes index.html and assets/ with their compressed forms to outDir. */
export async function buildDashboard({ outDir }) {
  const { outputFiles, metafile } = await build({
    entryPoints: [
      'web/main.tsx',
      'web/style/style.css',
      'web/icon.svg',
      'web/docsSite/docs.ts',
      'web/docsSite/docs.css',
    ].map(at),
    define: {
      FLAGS_VERSION: JSON.stringify(flagsVersion),
      NAVIGATION_ICONS: JSON.stringify(navIconsName),
    },
    outdir: join(outDir, 'assets'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    splitting: true,
    loader: { '.svg': 'copy' },
    plugins: [examplesAsText],
    bundle: true,
    write: false,
    metafile: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'warning',
  })
  const assets = join(outDir, 'assets')
  await mkdir(assets, { recursive: true })
  const written = new Set()
  const compressed = [...outputFiles, { path: join(assets, navIconsName), contents: navIcons }]
  for (const { path, contents } of compressed) {
    for (const [extension, compress] of Object.entries(encodings)) {
      await writeFile(`${path}${extension}`, await compress(contents))
      written.add(`${basename(path)}${extension}`)
    }
  }
  for (const [name, contents] of await readIcons()) {
    await writeFile(join(assets, name), contents)
    written.add(name)
  }
  // Deleted last, so that a running service never lacks a file that is still in use.
  for (const name of await readdir(assets)) if (!written.has(name)) await rm(join(assets, name))
  const nameOf = (entry, extension) =>
    outputFiles
      .map(({ path }) => basename(path))
      .find((name) => name.startsWith(`${entry}-`) && name.endsWith(extension))
  const main = nameOf('main', '.js')
  const style = nameOf('style', '.css')
  const icon = nameOf('icon', '.svg')
  const preloads = staticImportsOf(metafile, main).map(
    (name) => `<link rel="modulepreload" href="/dashboard/assets/${name}">`,
  )
  const shell = (await readFile(at('web/index.html'), 'utf8'))
    .replace('{{script}}', main)
    .replace('{{preloads}}', preloads.join('\n  '))
    .replace('{{style}}', style)
    .replace('{{icon}}', icon)
  await copyFile(at('web/icon.svg'), join(outDir, 'favicon.svg'))
  await writeFile(join(outDir, 'index.html'), shell)
  const docs = { script: nameOf('docs', '.js'), style: nameOf('docs', '.css'), icon }
  await writeFile(
    join(outDir, 'docs.json'),
    JSON.stringify(docs, (key, value) => (key === '' ? value : `/dashboard/assets/${value}`)),
  )
}

/** Reads flags of countries and icons of browsers and sources, by file name. */
async function readIcons() {
  const of = async (folder, prefix) =>
    Promise.all(
      (await readdir(folder))
        .filter((name) => name.endsWith('.svg'))
        .map(async (name) => [
          `${prefix}-${basename(name, '.svg')}-${flagsVersion}.svg`,
          await readFile(join(folder, name)),
        ]),
    )
  return [
    ...(await of(join(flagsPackage, '../3x2'), 'flag')),
    ...(await of(at('web/icons'), 'browser')),
    ...(await of(at('web/icons/sources'), 'source')),
  ]
}

/** Returns the chunks that a script needs to start, so that the page requests them in parallel with it. */
function staticImportsOf({ outputs }, name) {
  const pathOf = (wanted) => Object.keys(outputs).find((path) => basename(path) === wanted)
  const found = new Set()
  const follow = (path) => {
    for (const { path: imported, kind } of outputs[path].imports) {
      if (kind !== 'import-statement' || found.has(imported)) continue
      found.add(imported)
      follow(imported)
    }
  }
  follow(pathOf(name))
  return [...found].map((path) => basename(path))
}
