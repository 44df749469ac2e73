/** `npm run bench`: installs what is missing, builds the service, the floor and this driver, then measures. */
import { fileURLToPath } from 'node:url'
import { prepare } from '../../collector/ops/launch/start.mjs'

await prepare()
const { build } = await import('esbuild')
/** The pixel's build finds its sources next to itself, so it stays in its place. */
const asItIs = {
  name: 'as-it-is',
  setup: ({ onResolve }) =>
    onResolve({ filter: /pixel\/build\.mjs$/ }, () => ({
      path: fileURLToPath(new URL('../../pixel/build.mjs', import.meta.url)),
      external: true,
    })),
}
await build({
  entryPoints: ['main', 'floor'].map((entry) =>
    fileURLToPath(new URL(`${entry}.ts`, import.meta.url)),
  ),
  outdir: fileURLToPath(new URL('../../dist/bench', import.meta.url)),
  bundle: true,
  packages: 'external',
  plugins: [asItIs],
  platform: 'node',
  format: 'esm',
  target: 'node22',
  sourcemap: true,
  logLevel: 'warning',
})
await import('../../dist/bench/main.js')
