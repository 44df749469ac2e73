/** `npm run fuzz`: installs what is missing, builds the service and this driver, then runs it. */
import { fileURLToPath } from 'node:url'
import { prepare } from '../../collector/ops/launch/start.mjs'

await prepare()
const { build } = await import('esbuild')
await build({
  entryPoints: [fileURLToPath(new URL('main.ts', import.meta.url))],
  outfile: fileURLToPath(new URL('../../dist/fuzz/main.js', import.meta.url)),
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node22',
  sourcemap: true,
  logLevel: 'warning',
})
await import('../../dist/fuzz/main.js')
