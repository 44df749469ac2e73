/**
 * `npm run dev`: builds and restarts the service after each change of a source. A failed build changes
 * nothing.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { prepare } from './start.mjs'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Editors save a file in several steps, and several files at once. */
const settleMs = 150

await prepare()
const { buildAll } = await import('./build.mjs')

let service = start()
let restarting = Promise.resolve()
let timer = setTimeout(() => {}, 0)
for (const directory of ['collector', 'pixel', 'schemas', 'examples']) {
  watch(join(root, directory), { recursive: true }, () => {
    clearTimeout(timer)
    timer = setTimeout(() => (restarting = restarting.then(restart)), settleMs)
  })
}

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, async () => {
    await stop()
    process.exit(0)
  })
}

function start() {
  const main = join(root, 'dist/collector/main.js')
  return spawn(process.execPath, ['--enable-source-maps', main], { stdio: 'inherit' })
}

/** Stops the service in order, unless it has ended already. */
async function stop() {
  if (service.exitCode !== null || service.signalCode !== null) return
  service.kill('SIGTERM')
  await once(service, 'exit')
}

async function restart() {
  try {
    await buildAll()
  } catch {
    // The build has already printed the error.
    return
  }
  console.log('A source file changed: restarting…')
  await stop()
  service = start()
}
