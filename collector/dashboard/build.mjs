/** Builds the dashboard's pages: one script, one stylesheet and an icon under hashed names, and the HTML shell. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { build } from 'esbuild'

const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const compressions = { br: promisify(brotliCompress), gz: promisify(gzip) }

/** Writes index.html and assets/ with their compressed forms to outDir. */
export async function buildDashboard({ outDir }) {
  const { outputFiles } = await build({
    entryPoints: ['web/main.tsx', 'web/style/style.css', 'web/icon.svg'].map(at),
    outdir: join(outDir, 'assets'),
    entryNames: '[name]-[hash]',
    loader: { '.svg': 'copy' },
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'warning',
  })
  await rm(outDir, { recursive: true, force: true })
  await mkdir(join(outDir, 'assets'), { recursive: true })
  for (const { path, contents } of outputFiles) {
    await writeFile(path, contents)
    for (const [extension, compress] of Object.entries(compressions)) {
      await writeFile(`${path}.${extension}`, await compress(contents))
    }
  }
  const nameOf = (extension) =>
    outputFiles.map(({ path }) => basename(path)).find((name) => name.endsWith(extension))
  const shell = (await readFile(at('web/index.html'), 'utf8'))
    .replace('{{script}}', nameOf('.js'))
    .replace('{{style}}', nameOf('.css'))
    .replace('{{icon}}', nameOf('.svg'))
  await writeFile(join(outDir, 'index.html'), shell)
}
