#!/usr/bin/env node
/**
 * Runs the build of `npm start` or `npm run build` (`npx footfall-server …`); it builds nothing.
 * `serve` without options starts the service, so it is the entry point for production; `try` installs local stores first.
 * Without a command, on a terminal, it asks whether to try. Every other command, also `serve --help`, runs cli.ts.
 */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { checkLauncher, fail, handOver } from './node.mjs'

const [command, ...options] = process.argv.slice(2)
const isTrial = command === 'try' && options.length === 0
if (isTrial || (command === undefined && process.stdin.isTTY)) {
  checkLauncher()
  const { asksForLocalStores, installLocalStores } = await import('./tryHere.mjs')
  if (isTrial || (await asksForLocalStores())) {
    await installLocalStores()
    process.argv[2] = 'serve'
  }
}
await handOver()
// Set before any module is loaded, so that stack traces refer to the sources.
process.setSourceMapsEnabled(true)
const isService = process.argv[2] === 'serve' && process.argv.length === 3
const program = new URL(`../../../dist/collector/${isService ? 'main' : 'cli'}.js`, import.meta.url)
if (!existsSync(program)) fail(`${fileURLToPath(program)} is missing: run npm run build first`)
await import(program)
