/**
 * Runs a fresh clone (`npm start`). It is plain JavaScript without dependencies, because it runs before they
 * are installed. It installs missing packages, switches to the required Node (node.mjs), builds, then becomes
 * the service.
 */
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkLauncher, fail, handOver, run } from './node.mjs'

const root = fileURLToPath(new URL('../../..', import.meta.url))

export async function prepare() {
  await install()
  // In a process of its own: bundlers keep 200 MB of memory, and this process may become the service.
  await run(process.execPath, ['collector/ops/launch/build.mjs'], { cwd: root })
}

/** Installs missing packages, and continues on the Node that runs the service. */
export async function install() {
  checkLauncher()
  checkWritable()
  if (!isInstalled()) {
    console.log('Installing dependencies (about 900 MB, including ClickHouse and PostgreSQL)…')
    // Some packages ask for a newer Node than that of the launcher. The service gets it from this installation.
    const quiet = ['--no-save', '--no-fund', '--no-audit', '--loglevel=error']
    await run('npm', ['install', ...quiet], { cwd: root })
  }
  await handOver()
}

/** Ends the process if the checkout is not writable, because installing and building write to it. */
function checkWritable() {
  try {
    accessSync(root, constants.W_OK)
  } catch (error) {
    const built = 'make it writable, or run the last build with npx footfall-server serve'
    fail(
      `npm start installs and builds in ${root}, which cannot be written to (${error.code}): ${built}`,
    )
  }
}

/**
 * Whether node_modules has the packages of the lock file. npm records installed packages in
 * node_modules/.package-lock.json. Of optional packages, only those that package.json names for this platform
 * are required.
 */
function isInstalled() {
  const installed = join(root, 'node_modules/.package-lock.json')
  if (!existsSync(installed)) return false
  const have = JSON.parse(readFileSync(installed, 'utf8')).packages
  const want = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  const named = Object.keys(want[''].optionalDependencies ?? {}).map(
    (name) => `node_modules/${name}`,
  )
  const isForUs = ({ os = [process.platform], cpu = [process.arch] }) =>
    os.includes(process.platform) && cpu.includes(process.arch)
  return Object.entries(want).every(
    ([path, entry]) =>
      path === '' ||
      (entry.optional && !(named.includes(path) && isForUs(entry))) ||
      have[path]?.version === entry.version,
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await prepare()
  // Set before any module is loaded, so that stack traces refer to the sources.
  process.setSourceMapsEnabled(true)
  await import('../../../dist/collector/main.js')
}
