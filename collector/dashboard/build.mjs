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
import { rolldown } from 'rolldown'

const flagsPackage = createRequire(import.meta.url).resolve('country-flag-icons/package.json')
const { version: flagsVersion } = JSON.parse(await readFile(flagsPackage, 'utf8'))

const at = (path) => fileURLToPath(new URL(path, import.meta.url))

/** The icons of the navigation: one file, which pages keep for ever under the name of its content. */
const navIcons = await readFile(at('web/icons/navigation/navigation.svg'))
const navIconsName = hashedName('navigation', navIcons)

/** The icons of browsers and sources: one file, in which each is a symbol. */
const valueIcons = await readSymbols({ browser: 'web/icons', source: 'web/icons/sources' })
const valueIconsName = hashedName('values', valueIcons)

/** Imports files of examples/ as text. */
const examplesAsText = {
  name: 'examples as text',
  async load(path) {
    if (!/[/\\]examples[/\\]/.test(path)) return null
    return { code: await readFile(path, 'utf8'), moduleType: 'text' }
  },
}

/** The modules that most pages with a view need. The modules that they import belong to them. */
const ofViews = new RegExp(
  `[/\\\\](?:${[
    'view/(?:viewBar|drilldown|noEvents|filterButton)',
    'components/(?:csvButton|figureMarks|time)',
    'charts/buckets',
    'pages/(?:overview/icon|goals/missingValues)',
    'projectRole',
  ]
    .join('|')
    .replaceAll('/', '[/\\\\]')})\\.tsx?$`,
)

/**
 * Bundles the scripts of the pages. All that every page needs is one file, and all that pages with a view need is
 * another, because each file costs a request.
 */
async function bundlePages() {
  const bundle = await rolldown({
    input: { main: at('web/main.tsx') },
    tsconfig: at('web/tsconfig.json'),
    transform: {
      target: 'es2022',
      define: {
        FLAGS_VERSION: JSON.stringify(flagsVersion),
        NAVIGATION_ICONS: JSON.stringify(navIconsName),
        VALUE_ICONS: JSON.stringify(valueIconsName),
      },
    },
    plugins: [examplesAsText],
    // No page imports from the entry.
    preserveEntrySignatures: false,
    logLevel: 'warn',
  })
  const { output } = await bundle.generate({
    format: 'esm',
    minify: true,
    entryFileNames: '[name]-[hash].js',
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: {
      groups: [
        { name: 'main', tags: ['$initial'], priority: 2 },
        { name: 'view', test: ofViews, priority: 1 },
      ],
    },
  })
  await bundle.close()
  return output
}

/** Encodings of a file, by the suffix of its name. */
const encodings = { '': (bytes) => bytes, '.br': promisify(brotliCompress), '.gz': promisify(gzip) }

/** Writes index.html and assets/ with their compressed forms to outDir. */
export async function buildDashboard({ outDir }) {
  const pages = await bundlePages()
  const { outputFiles } = await build({
    entryPoints: [
      'web/style/style.css',
      'web/icon.svg',
      'web/docsSite/docs.ts',
      'web/docsSite/docs.css',
    ].map(at),
    outdir: join(outDir, 'assets'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    splitting: true,
    loader: { '.svg': 'copy' },
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    target: 'es2022',
    logLevel: 'warning',
  })
  const assets = join(outDir, 'assets')
  await mkdir(assets, { recursive: true })
  const written = new Set()
  const compressed = [
    ...outputFiles,
    ...pages.map(({ fileName, code }) => ({ path: join(assets, fileName), contents: code })),
    { path: join(assets, navIconsName), contents: navIcons },
    { path: join(assets, valueIconsName), contents: valueIcons },
  ]
  for (const { path, contents } of compressed) {
    for (const [extension, compress] of Object.entries(encodings)) {
      await writeFile(`${path}${extension}`, await compress(contents))
      written.add(`${basename(path)}${extension}`)
    }
  }
  for (const [name, contents] of await readFlags()) {
    await writeFile(join(assets, name), contents)
    written.add(name)
  }
  // Deleted last, so that a running service never lacks a file that is still in use.
  for (const name of await readdir(assets)) if (!written.has(name)) await rm(join(assets, name))
  const nameOf = (entry, extension) =>
    outputFiles
      .map(({ path }) => basename(path))
      .find((name) => name.startsWith(`${entry}-`) && name.endsWith(extension))
  const main = pages.find(({ isEntry }) => isEntry)
  const style = nameOf('style', '.css')
  const icon = nameOf('icon', '.svg')
  const preloads = staticImportsOf(pages, main).map(
    (name) => `<link rel="modulepreload" href="/dashboard/assets/${name}">`,
  )
  const shell = (await readFile(at('web/index.html'), 'utf8'))
    .replace('{{script}}', main.fileName)
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

/** Reads flags of countries, by file name. */
async function readFlags() {
  const folder = join(flagsPackage, '../3x2')
  return Promise.all(
    (await svgsOf(folder)).map(async (name) => [
      `flag-${name}-${flagsVersion}.svg`,
      await readFile(join(folder, `${name}.svg`)),
    ]),
  )
}

/** Joins the icons of folders, by the prefixes of their names, into one file of symbols. */
async function readSymbols(folders) {
  const symbols = []
  for (const [prefix, folder] of Object.entries(folders))
    for (const name of await svgsOf(at(folder)))
      symbols.push(
        (await readFile(at(`${folder}/${name}.svg`), 'utf8'))
          .trim()
          .replace('<svg xmlns="http://www.w3.org/2000/svg"', `<symbol id="${prefix}-${name}"`)
          .replace('</svg>', '</symbol>'),
      )
  return Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg">${symbols.join('')}</svg>`)
}

/** The names of the SVG files in a folder, without their extension. */
async function svgsOf(folder) {
  const names = await readdir(folder)
  return names.filter((name) => name.endsWith('.svg')).map((name) => basename(name, '.svg'))
}

/** The name of a file that changes with its content, so that browsers keep it for ever. */
function hashedName(name, contents) {
  const hash = createHash('sha256').update(contents).digest('hex').slice(0, 8)
  return `${name}-${hash}.svg`
}

/** Returns the chunks that a script needs to start, so that the page requests them in parallel with it. */
function staticImportsOf(chunks, { imports }, found = new Set()) {
  for (const name of imports) {
    if (found.has(name)) continue
    found.add(name)
    staticImportsOf(
      chunks,
      chunks.find(({ fileName }) => fileName === name),
      found,
    )
  }
  return [...found]
}
