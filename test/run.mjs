/**
 * `npm test`: installs what is missing, three browsers included, then lint, types and all tests. Arguments go to
 * Vitest: `npm test -- test/unit`.
 */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { run } from '../collector/ops/launch/node.mjs'
import { install } from '../collector/ops/launch/start.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
/** What the tests drive besides: Debian's package → a file that it brings. */
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
}

await install()
await installPrograms()
await run('npm', ['run', '--silent', 'lint'], { cwd: root })
await run(
  process.execPath,
  [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--config',
    'test/vitest.config.ts',
    ...process.argv.slice(2),
  ],
  { cwd: root, env: { CHROMIUM_PATH: findChromium() ?? (await playwrightChromium()) } },
)

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
