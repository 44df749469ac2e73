/** Builds dist/: the collector's processes, one bundle each with shared chunks, the pixel and the dashboard. */
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build, stop } from 'esbuild'
import { buildPixel } from '../pixel/build.mjs'
import { buildDashboard } from './dashboard/build.mjs'
import { handOver } from './node.mjs'

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url))

export async function buildAll() {
  rmSync(at('dist/collector'), { recursive: true, force: true })
  await build({
    entryPoints: ['main', 'worker', 'cli', 'clickhouse/localServer', 'postgres/localServer'].map((entry) =>
      at(`collector/${entry}.ts`),
    ),
    outbase: at('collector'),
    outdir: at('dist/collector'),
    bundle: true,
    packages: 'external',
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    sourcemap: true,
    logLevel: 'warning',
  })
  await buildPixel({ outDir: at('dist/pixel') })
  await buildDashboard({ outDir: at('dist/dashboard') })
  // Its helper process would otherwise live as long as ours, which may go on as the service.
  stop()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await handOver()
  await buildAll()
}
