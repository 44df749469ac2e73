/**
 * Installs the missing packages and browsers, then runs lint, types and tests. `--tier` names the tests of a run without
 * paths: `quick` (the default, `npm test`), `slow` or `full` (both). `tiers.json` lists the folders of each tier; a file
 * `*.slow.test.ts` of a quick folder belongs to the slow tier. All other arguments go to Vitest:
 * `npm test -- test/chaos -t 'kill'`.
 */
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '../collector/ops/launch/node.mjs'
import { install } from '../collector/ops/launch/start.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Other programs that the tests use: Debian's package → a file of it. */
const programs = {
  chromium: '/usr/bin/chromium',
  'firefox-esr': '/usr/bin/firefox-esr',
  'webkit2gtk-driver': '/usr/bin/WebKitWebDriver',
  // WebKitGTK has no headless mode.
  xvfb: '/usr/bin/Xvfb',
  'nginx-light': '/usr/sbin/nginx',
  haproxy: '/usr/sbin/haproxy',
  pgbouncer: '/usr/sbin/pgbouncer',
  // Brings promtool, which tests the alert rules.
  prometheus: '/usr/bin/promtool',
  // The servers of the replicated log.
  'nats-server': '/usr/sbin/nats-server',
  // Runs the tests of the Python client.
  'python3-pytest': '/usr/bin/pytest-3',
}

const { tier, toVitest } = readArguments(process.argv.slice(2))
await install()
process.once('exit', () => console.log(`In all: ${Math.round(process.uptime())} s`))
await installPrograms()
// CI runs the slow tier after the quick one, which has linted.
if (tier !== 'slow') await run('npm', ['run', '--silent', 'lint'], { cwd: root })
await run(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts', ...toVitest],
  { cwd: root, env: { CHROMIUM_PATH: findChromium() ?? (await playwrightChromium()) } },
)

/** Splits the tier off, and adds the folders of the tier where no path is given. */
function readArguments(given) {
  const option = '--tier='
  const tier = given.find((each) => each.startsWith(option))?.slice(option.length) ?? 'quick'
  const others = given.filter((each) => !each.startsWith(option))
  const { quick, slow } = JSON.parse(readFileSync(new URL('tiers.json', import.meta.url), 'utf8'))
  const inFolders = (folders) => folders.map((folder) => `test/${folder}/`)
  const filters = {
    quick: [...inFolders(quick), '--exclude=**/*.slow.test.ts'],
    slow: [...inFolders(slow), '.slow.test.ts'],
    full: inFolders([...quick, ...slow]),
  }[tier]
  if (!filters) throw new Error(`--tier must be quick, slow or full (got ${tier})`)
  const hasPath = others.some((each) => existsSync(resolve(root, each)))
  return { tier, toVitest: [...(hasPath ? [] : filters), ...others] }
}

function findChromium() {
  const places = [programs.chromium, '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
  return [process.env.CHROMIUM_PATH, ...places].find((path) => path && existsSync(path))
}

/** As root on Debian from its packages; elsewhere Playwright brings Chromium, and tests of the others fail. */
async function installPrograms() {
  const missing = Object.keys(programs).filter((name) =>
    name === 'chromium' ? !findChromium() : !existsSync(programs[name]),
  )
  if (missing.length === 0) return
  const isRoot = process.getuid?.() === 0
  if (isRoot && existsSync('/usr/bin/apt-get')) {
    console.log(`Installing for the tests: ${missing.join(', ')}…`)
    await run('apt-get', ['update', '-qq'])
    await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...missing], {
      env: { DEBIAN_FRONTEND: 'noninteractive' },
    })
  } else {
    console.warn(`Tests will fail: install ${missing.join(', ')} (on Debian: apt-get install)`)
    if (missing.includes('chromium'))
      await run('npx', ['playwright-core', 'install', 'chromium'], { cwd: root })
  }
}

/** Where Playwright keeps its own. */
async function playwrightChromium() {
  const { chromium } = await import('playwright-core')
  return chromium.executablePath()
}
