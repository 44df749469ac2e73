/** `npm run bench`: installs what is missing, builds the service, the floor and this driver, then measures. */
import { fileURLToPath } from 'node:url'
import { prepare } from '../../collector/start.mjs'

await prepare()
const { build } = await import('esbuild')
await build({
  entryPoints: ['main', 'floor'].map((entry) => fileURLToPath(new URL(`${entry}.ts`, import.meta.url))),
  outdir: fileURLToPath(new URL('../../dist/bench', import.meta.url)),
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  sourcemap: true,
  logLevel: 'warning',
})
await import('../../dist/bench/main.js')
