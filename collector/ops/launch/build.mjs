/**
 * Builds dist/: the collector's processes (one bundle each with shared chunks), pixel, client, dashboard and
 * guides. Also writes the clients' types into the sources. `--operations` (`npm run client:operations`) writes
 * api/client/operations.ts as well, which Git has. `--stale` builds only if a source is newer than the last build.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { buildPixel } from '../../../pixel/build.mjs'
import { buildDashboard } from '../../dashboard/build.mjs'
import { builtAt, newDraft, publish } from './builds.mjs'
import { handOver } from './node.mjs'

const at = (path) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))

const { dependencies } = JSON.parse(readFileSync(at('package.json'), 'utf8'))
/**
 * Packages that a service with external stores does not need: no package.json may name them at build time.
 */
const optional = [
  'ffi-rs',
  'playwright-core',
  '@modelcontextprotocol/server',
  '@nats-io/jetstream',
  '@nats-io/transport-node',
]
/**
 * These packages are loaded from node_modules. typebox is bundled, because it has hundreds of modules, half
 * of all that a start would read.
 */
const external = [...Object.keys(dependencies).filter((name) => name !== 'typebox'), ...optional]

/** Folders and files that a build reads. */
const inputs = ['collector', 'pixel', 'schemas', 'examples', 'package.json', 'package-lock.json']
/** Files that a build writes next to the sources. */
const outputs = ['collector/api/client/api.d.ts', 'examples/clients/python/footfall/operations.py']

/** Builds if an input changed after the last build began. Folders count too, because a file may have been removed. */
export async function buildStale() {
  const since = builtAt()
  const isNewer = (path) => !outputs.includes(path) && statSync(at(path)).mtimeMs > since
  const below = (path) =>
    statSync(at(path)).isDirectory()
      ? readdirSync(at(path), { recursive: true }).map((name) => `${path}/${name}`)
      : []
  const isFresh =
    outputs.every((path) => existsSync(at(path))) &&
    !inputs.some((path) => isNewer(path) || below(path).some(isNewer))
  if (!isFresh) await buildAll()
}

export async function buildAll({ writesOperations = false } = {}) {
  const draft = newDraft()
  await build({
    entryPoints: [
      'main',
      'worker',
      'cli',
      'describeApi',
      'platform/clickhouse/localServer',
      'platform/postgres/localServer',
    ].map((entry) => at(`collector/${entry}.ts`)),
    outbase: at('collector'),
    outdir: join(draft, 'collector'),
    bundle: true,
    external,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    sourcemap: true,
    // A stack trace needs only positions; sources in the maps would cost each worker's start a tenth of a
    // second.
    sourcesContent: false,
    logLevel: 'warning',
  })
  await build({
    entryPoints: [at('collector/api/client/index.ts')],
    outdir: join(draft, 'client'),
    bundle: true,
    // Without the comments of operations.ts.
    minifyWhitespace: true,
    platform: 'neutral',
    format: 'esm',
    target: 'es2022',
    logLevel: 'warning',
  })
  await buildPixel({ outDir: join(draft, 'pixel') })
  await buildDashboard({ outDir: join(draft, 'dashboard') })
  const generator = at('collector/ops/launch/generate.mjs')
  const described = join(draft, 'collector/describeApi.js')
  const options = writesOperations ? ['--operations'] : []
  execFileSync(process.execPath, [generator, described, ...options], { stdio: 'inherit' })
  await copyFile(at('collector/api/client/client.d.ts'), join(draft, 'client/index.d.ts'))
  await copyFile(at('collector/api/client/api.d.ts'), join(draft, 'client/api.d.ts'))
  publish(draft)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await handOver()
  if (process.argv.includes('--stale')) await buildStale()
  else await buildAll({ writesOperations: process.argv.includes('--operations') })
}
