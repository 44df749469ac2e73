/**
 * `npm start`: makes a fresh clone run. Plain JavaScript without dependencies, because it runs before there are
 * any: installs what is missing, builds, then becomes the service. With --prepare it stops before the last step.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

export async function prepare() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major < 20 || (major === 20 && minor < 15)) {
    console.error(`footfall: Node 20.15 or newer is needed, this is ${process.versions.node}`)
    process.exit(1)
  }
  if (!isInstalled()) {
    console.log(
      'Installing dependencies (about 850 MB: a whole ClickHouse and a whole PostgreSQL are among them)…',
    )
    // Not `npm ci`: it refuses a lock file that lacks the optional packages of other platforms.
    execFileSync('npm', ['install', '--no-save', '--no-fund', '--no-audit'], { cwd: root, stdio: 'inherit' })
  }
  const { buildAll } = await import('./build.mjs')
  await buildAll()
}

/** npm notes what it installed in node_modules/.package-lock.json: the same packages as the lock file asks for? */
function isInstalled() {
  const installed = join(root, 'node_modules/.package-lock.json')
  if (!existsSync(installed)) return false
  const have = JSON.parse(readFileSync(installed, 'utf8')).packages
  const want = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  return Object.entries(want).every(
    ([path, { version, optional }]) => path === '' || optional || have[path]?.version === version,
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await prepare()
  if (!process.argv.includes('--prepare')) await import('../dist/collector/main.js')
}
