/**
 * `npm test`: installs what is missing, three browsers included, then lint, types and all tests. Arguments go to
 * Vitest: `npm test -- test/unit`.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { prepare } from '../collector/start.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const run = (command, args, env = {}) => {
  const { status } = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  })
  if (status !== 0) process.exit(status ?? 1)
}

/** What the tests drive besides: Debian's package → a file that it brings. */
const programs = {
  chromium: '/usr/bin/chromium',
  'firefox-esr': '/usr/bin/firefox-esr',
  'webkit2gtk-driver': '/usr/bin/WebKitWebDriver',
  // WebKitGTK has no headless mode.
  xvfb: '/usr/bin/Xvfb',
  'nginx-light': '/usr/sbin/nginx',
}

await prepare()
installPrograms()
run('npx', ['biome', 'check'])
run('npx', ['tsc', '-p', '.'])
run('npx', ['tsc', '-p', 'pixel'])
run('npx', ['tsc', '-p', 'collector/dashboard/web'])
run('npx', ['vitest', 'run', '--config', 'test/vitest.config.ts', ...process.argv.slice(2)], {
  CHROMIUM_PATH: findChromium() ?? playwrightChromium(),
})

function findChromium() {
  const places = [programs.chromium, '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
  return [process.env.CHROMIUM_PATH, ...places].find((path) => path && existsSync(path))
}

/** As root on Debian from its packages; elsewhere Playwright brings Chromium, and tests of the others fail. */
function installPrograms() {
  const missing = Object.keys(programs).filter((name) =>
    name === 'chromium' ? !findChromium() : !existsSync(programs[name]),
  )
  if (missing.length === 0) return
  const isRoot = process.getuid?.() === 0
  if (isRoot && existsSync('/usr/bin/apt-get')) {
    console.log(`Installing for the tests: ${missing.join(', ')}…`)
    run('apt-get', ['update', '-qq'])
    run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...missing], {
      DEBIAN_FRONTEND: 'noninteractive',
    })
  } else {
    console.warn(`Tests will fail: install ${missing.join(', ')} (on Debian: apt-get install)`)
    if (missing.includes('chromium')) run('npx', ['playwright-core', 'install', 'chromium'])
  }
}

function playwrightChromium() {
  return execFileSync(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      "import { chromium } from 'playwright-core'; console.log(chromium.executablePath())",
    ],
    { cwd: root, encoding: 'utf8' },
  ).trim()
}
