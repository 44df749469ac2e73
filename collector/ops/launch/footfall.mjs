#!/usr/bin/env node
/**
 * `npx footfall …`: runs what `npm start` or `npm run build` has built, and installs and builds nothing itself. `serve`
 * alone is the service, so the entry for production; everything else is cli.ts, `serve --help` included.
 */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { fail, handOver } from './node.mjs'

await handOver()
// Before anything is loaded: stacks name the sources.
process.setSourceMapsEnabled(true)
const isService = process.argv[2] === 'serve' && process.argv.length === 3
const program = new URL(`../../../dist/collector/${isService ? 'main' : 'cli'}.js`, import.meta.url)
if (!existsSync(program)) fail(`${fileURLToPath(program)} is missing: run npm run build first`)
await import(program)
