/**
 * Installs the missing packages and browsers, then runs tests, and at the same time lint and types. `--tier` names the tests of
 * a run without paths: `quick` (the default, `npm test`), `slow` or `full` (both). `tiers.json` lists the folders of each
 * tier. The slow tier also has the files `*.slow.test.ts` of the other folders, and runs those that import
 * `harness/thorough.ts` with all their cases. All other arguments go to Vitest: `npm test -- test/chaos -t 'kill'`. With a
 * path, only these files run, without lint.
 */
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '../collector/ops/launch/node.mjs'
import { install } from '../collector/ops/launch/start.mjs'
import { measureProcessorTime } from './processorTime.mjs'

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

/** Twice the two cores: with three, a third of the processors' time was waited away (for timers, disks and each other). */
const workers = 4

const { tier, hasPath, toVitest } = readArguments(process.argv.slice(2))
await install()
await installPrograms()
const processorTime = measureProcessorTime()
process.once('exit', printTotals)
// Lint needs the generated types, and the stores need the build. A pure test needs neither.
if (!hasPath)
  await run(process.execPath, ['collector/ops/launch/build.mjs', '--stale'], { cwd: root })
// CI runs the slow tier after the quick one, which has linted.
const lint = hasPath || tier === 'slow' ? null : startLint()
const codes = await Promise.all([runTests(), lint])
process.exit(codes.find((code) => code) ?? 0)

/** Runs Vitest with our streams and signals, and resolves with its exit code. */
async function runTests() {
  const workersOption = toVitest.some((each) => each.startsWith('--maxWorkers'))
    ? []
    : [`--maxWorkers=${workers}`]
  const child = spawn(
    process.execPath,
    [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--config=test/vitest.config.ts',
      ...workersOption,
      ...toVitest,
    ],
    {
      cwd: root,
      stdio: 'inherit',
      env: {
        ...process.env,
        CHROMIUM_PATH: findChromium() ?? (await playwrightChromium()),
        ...(tier !== 'quick' && { TEST_THOROUGH: 'true' }),
      },
    },
  )
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)))
}

/** Runs lint and types, prints what they print once they have ended, and resolves with the exit code. */
function startLint() {
  const child = spawn('npm', ['run', '--silent', 'lint'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text))
  return new Promise((resolve) =>
    child.once('close', (code) => {
      console.log(`Lint and types ${code === 0 ? 'passed' : 'FAILED'}:\n${output}`)
      resolve(code ?? 1)
    }),
  )
}

function printTotals() {
  const seconds = (value) => `${value.toFixed(1).padStart(8)} s`
  const used = processorTime()
  const sum = used.reduce((all, each) => all + each.seconds, 0)
  console.log(
    [
      `Processor time: ${sum.toFixed(0)} s. By kind of process:`,
      ...used
        .filter((each) => each.seconds > 0)
        .map((each) => `${seconds(each.seconds)}  ${each.kind}`),
      `In all: ${Math.round(process.uptime())} s`,
    ].join('\n'),
  )
}

/** Splits the tier off, and adds the folders of the tier where no path is given. */
function readArguments(given) {
  const option = '--tier='
  const tier = given.find((each) => each.startsWith(option))?.slice(option.length) ?? 'quick'
  const others = given.filter((each) => !each.startsWith(option))
  const { quick, slow } = JSON.parse(readFileSync(new URL('tiers.json', import.meta.url), 'utf8'))
  const inFolders = (folders) => folders.map((folder) => `test/${folder}/`)
  const thorough = quick
    .flatMap((folder) =>
      readdirSync(resolve(root, 'test', folder), { recursive: true }).map(
        (name) => `test/${folder}/${name}`,
      ),
    )
    .filter((path) => path.endsWith('.test.ts'))
    .filter((path) => readFileSync(resolve(root, path), 'utf8').includes('harness/thorough.ts'))
  const filters = {
    quick: [...inFolders(quick), '--exclude=**/*.slow.test.ts'],
    slow: [
      ...inFolders(slow),
      '.slow.test.ts',
      ...thorough,
      ...quick
        .filter((folder) => folder.includes('/'))
        .map((folder) => `--exclude=test/${folder}/**`),
    ],
    full: inFolders([...new Set([...quick, ...slow])]),
  }[tier]
  if (!filters) throw new Error(`--tier must be quick, slow or full (got ${tier})`)
  const hasPath = others.some((each) => existsSync(resolve(root, each)))
  return { tier, hasPath, toVitest: [...(hasPath ? [] : filters), ...others] }
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
