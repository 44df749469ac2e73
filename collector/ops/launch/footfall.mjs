#!/usr/bin/env node
/**
 * Runs the build of `npm start` or `npm run build` (`npx footfall-server …`); it installs and builds nothing itself.
 * `serve` without options starts the service, so it is the entry point for production. Every other command,
 * also `serve --help`, runs cli.ts.
 */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { fail, handOver } from './node.mjs'

await handOver()
// Set before any module is loaded, so that stack traces refer to the sources.
process.setSourceMapsEnabled(true)
const isService = process.argv[2] === 'serve' && process.argv.length === 3
const program = new URL(`../../../dist/collector/${isService ? 'main' : 'cli'}.js`, import.meta.url)
if (!existsSync(program)) fail(`${fileURLToPath(program)} is missing: run npm run build first`)
await import(program)
