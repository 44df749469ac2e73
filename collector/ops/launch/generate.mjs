/**
 * Writes the types of both clients and the pages of /docs from the routes' own schemas: `node generate.mjs BUNDLE
 * [--operations]`. BUNDLE is the built describeApi.ts, next to the built dashboard. A process of its own, because the build may become the service. It needs no store and no port.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'

const at = (path) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))

/** Files that Git ignores, each with the function of describeApi.ts that makes its text. */
const ignored = {
  'collector/api/client/api.d.ts': 'typesModule',
  'examples/clients/python/footfall/operations.py': 'pythonModule',
}
/** Git has this one, so that a review shows what changes in the API. */
const kept = { 'collector/api/client/operations.ts': 'operationsModule' }

const [bundle, option] = process.argv.slice(2)
const { describeApi, ...modules } = await import(pathToFileURL(bundle))
const document = await describeApi()
const files = { ...ignored, ...(option === '--operations' && kept) }
for (const [path, name] of Object.entries(files)) {
  const text = modules[name](document)
  // An unchanged file is not written, because `npm run dev` builds after each write.
  if (!existsSync(at(path)) || readFileSync(at(path), 'utf8') !== text)
    writeFileSync(at(path), text)
}
// Some routes start timers.
process.exit()
