import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Demo } from '../../collector/ops/demo/demo.ts'
import { launcherVariable } from '../../collector/ops/launch/node.mjs'
import { freePort } from '../../collector/platform/localStores/supervise.ts'
import { packageRoot } from '../../collector/platform/paths.ts'
import { keepLog } from './logs.ts'
import { countOpening } from './usage.ts'

/** What tests send requests to: a service, or the app in the process of the tests (sharedApp.ts). */
export interface Answering {
  /** http://127.0.0.1:PORT */
  url: string
  dataDir: string
  /** What demo.json tells. */
  demo: Demo
  /** All that it printed so far. */
  output(): string
  /** Ends it in order. A service also removes its data directory. */
  stop(): Promise<void>
}

export interface Service extends Answering {
  process: ChildProcess
  /** Stops it with a signal and waits until it has ended; the data directory stays. */
  end(signal: NodeJS.Signals): Promise<number | null>
}

/** A test process that is killed never gets to stop its service: the service looks after that by itself. */
const endWithTest = pathToFileURL(join(packageRoot, 'test/harness/endWithTest.mjs')).href

/** Seals customers' secrets in every test's service. */
export const secretKey = Buffer.alloc(32, 'test').toString('base64')

const startTimeoutMs = 120_000
/** How often a service that starts is asked whether it is ready: each time costs it and the test some milliseconds. */
const readyPollMs = 150

/**
 * Starts the built service as a user would, on its own port and in its own data directory, and waits until it
 * is ready. With `dataDir` it restarts on the same data.
 */
export async function startService(
  options: {
    env?: Record<string, string>
    dataDir?: string
    /** Whether test keys find sample data. */
    hasSample?: boolean
    /** Another checkout whose build is started; default: ours. */
    checkout?: string
    /** Called with its process at once, long before it is ready. */
    onSpawn?: (process: ChildProcess) => void
  } = {},
): Promise<Service> {
  countOpening('services')
  const port = options.env?.PORT ? Number(options.env.PORT) : await freePort()
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'footfall-test-'))
  const url = `http://127.0.0.1:${port}`
  const main = join(options.checkout ?? packageRoot, 'dist/collector/main.js')
  const commandLine = ['--import', endWithTest, main]
  const child = spawn(process.execPath, commandLine, {
    env: {
      ...process.env,
      [launcherVariable]: String(process.pid),
      LOG_LEVEL: 'warn',
      // Tests poll; those of the limits switch them on.
      FOOTFALL_RATE_LIMITS: 'false',
      // Each costs as much as the rest of the start; tests of several say so.
      FOOTFALL_WORKERS: '1',
      // A month of it takes as long as the rest of the start.
      FOOTFALL_SAMPLE_DAYS: options.hasSample ? '30' : '0',
      // Figures must not change while a test compares them.
      FOOTFALL_DEMO_VISITS: 'false',
      // A PostgreSQL that is not its own asks for one.
      FOOTFALL_SECRET_KEY: secretKey,
      ...options.env,
      PORT: String(port),
      FOOTFALL_DATA_DIR: dataDir,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  options.onSpawn?.(child)
  // A test that times out never gets to stop it.
  const killWithUs = () => child.kill('SIGKILL')
  process.once('exit', killWithUs)
  child.once('exit', () => process.off('exit', killWithUs))
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text))
  keepLog({ name: `Service on port ${port}`, output: () => output })

  const gone = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    return gone
  }
  const deadline = Date.now() + startTimeoutMs
  while (!(await isReady(url))) {
    if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline) {
      await end('SIGKILL')
      throw new Error(`the service did not start:\n${output}`)
    }
    await new Promise((resolve) => setTimeout(resolve, readyPollMs))
  }
  const demoFile = join(dataDir, 'demo.json')
  return {
    url,
    dataDir,
    demo: existsSync(demoFile) ? JSON.parse(readFileSync(demoFile, 'utf8')) : ({} as Demo),
    process: child,
    output: () => output,
    end,
    async stop() {
      await end('SIGTERM')
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/readyz`).then(
    (answer) => answer.ok,
    () => false,
  )

/** How soon a condition is looked at again: at first, and at the most. Looks of many tests at once are what they wait for. */
const pauseMs = { first: 80, most: 250 }

/** Calls `check` until it returns something truthy, ever less often; fails with `what` after `timeoutMs`. */
export async function waitFor<T>(
  what: string,
  check: () => Promise<T> | T,
  timeoutMs = 90_000,
): Promise<NonNullable<T>> {
  const deadline = Date.now() + timeoutMs
  for (let pause = pauseMs.first; ; pause = Math.min(pause * 1.6, pauseMs.most)) {
    const found = await check()
    if (found) return found
    if (Date.now() > deadline) throw new Error(`timed out waiting for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}
