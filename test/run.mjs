/**
 * `npm test`: installs what is missing, a browser included, then lint, types and all tests. Arguments go to Vitest:
 * `npm test -- test/unit`.
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

await prepare()
const chromium = findChromium() ?? installChromium()
run('npx', ['biome', 'check'])
run('npx', ['tsc', '-p', '.'])
run('npx', ['tsc', '-p', 'pixel'])
run('npx', ['tsc', '-p', 'collector/dashboard/web'])
run('npx', ['vitest', 'run', '--config', 'test/vitest.config.ts', ...process.argv.slice(2)], {
  CHROMIUM_PATH: chromium,
})

function findChromium() {
  const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
  return [process.env.CHROMIUM_PATH, ...places].find((path) => path && existsSync(path))
}

/** As root on Debian from its packages; elsewhere the build that Playwright brings. */
function installChromium() {
  console.log('Installing Chromium for the browser tests…')
  const isRoot = process.getuid?.() === 0
  if (isRoot && existsSync('/usr/bin/apt-get')) {
    run('apt-get', ['update', '-qq'])
    run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], {
      DEBIAN_FRONTEND: 'noninteractive',
    })
  } else run('npx', ['playwright-core', 'install', 'chromium'])
  const path = findChromium() ?? playwrightChromium()
  if (existsSync(path)) return path
  console.error('No Chromium found: install one and set CHROMIUM_PATH to it.')
  process.exit(1)
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
