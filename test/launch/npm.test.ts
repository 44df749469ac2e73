import {
  appendFileSync,
  copyFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../collector/platform/localStores/supervise.ts'
import { packageRoot } from '../../collector/platform/paths.ts'
import { ownDatabases } from '../harness/databases.ts'
import { waitFor } from '../harness/service.ts'
import { type Command, isAlive, launch } from './harness.ts'

/** A checkout of its own, so that what is built here disturbs nobody; its packages are ours. */
let checkout: string
beforeAll(() => {
  checkout = realpathSync(mkdtempSync(join(tmpdir(), 'footfall-checkout-')))
  for (const file of ['package.json', 'package-lock.json', 'tsconfig.json'])
    copyFileSync(join(packageRoot, file), join(checkout, file))
  for (const directory of ['collector', 'pixel', 'schemas', 'examples'])
    cpSync(join(packageRoot, directory), join(checkout, directory), { recursive: true })
  symlinkSync(join(packageRoot, 'node_modules'), join(checkout, 'node_modules'))
})
afterAll(() => rmSync(checkout, { recursive: true, force: true }))

/** Starts the checkout's service by a command and waits until it answers. */
async function serve(command: Command) {
  const port = await freePort()
  const dataDir = mkdtempSync(join(checkout, 'data-'))
  const launched = launch(command, {
    cwd: checkout,
    env: {
      ...(await ownDatabases()),
      PORT: String(port),
      FOOTFALL_DATA_DIR: dataDir,
      FOOTFALL_WORKERS: '1',
      FOOTFALL_SAMPLE_DAYS: '0',
    },
  })
  const answers = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      (answer) => answer.ok,
      () => false,
    )
  await waitFor(`the service: ${launched.output()}`, answers, 90_000)
  return { ...launched, answers }
}

/** The processes that run the checkout's files or in it, by what `pick` finds in their command line. */
function processesOf(pick: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        return realpathSync(`/proc/${pid}/cwd`) === checkout && commandLine.includes(pick)
      } catch {
        return false
      }
    })
}

const build = (): Promise<unknown> =>
  launch([process.execPath, join(checkout, 'collector/ops/launch/build.mjs')], { cwd: checkout })
    .ended

describe('npm start', () => {
  test.each(['SIGTERM', 'SIGKILL'] as const)(
    'ends with npm, by %s, and leaves nothing behind',
    async (signal) => {
      const service = await serve(['npm', 'start'])
      expect(processesOf('worker.js')).toHaveLength(1)
      service.process.kill(signal)
      await waitFor('everything to be gone', () => processesOf('').length === 0, 30_000)
      expect(await service.answers()).toBe(false)
      await waitFor('npm to be gone', () => !isAlive(service.process.pid!), 30_000)
    },
    180_000,
  )

  test('in a checkout that cannot be written to says so in one sentence', async () => {
    const start: Command = [process.execPath, join(checkout, 'collector/ops/launch/start.mjs')]
    // As an ordinary user who may read everything, wherever the checkout lies.
    const nobody = [
      '--reuid=65534',
      '--regid=65534',
      '--clear-groups',
      '--securebits=+no_setuid_fixup',
    ]
    const caps = ['--inh-caps=+dac_read_search', '--ambient-caps=+dac_read_search', '--']
    const command: Command =
      process.getuid?.() === 0 ? ['setpriv', ...nobody, ...caps, ...start] : start
    const { code, output } = await launch(command).ended
    expect(code).toBe(1)
    expect(output).toMatch(
      /^footfall: npm start installs and builds in [^\n]+ cannot be written to [^\n]+$/,
    )
    expect(output).toContain('npx footfall-server serve')
  })
})

describe('npx footfall-server serve', () => {
  test('runs what was built; a build beside it, even of a worker that cannot run, does not reach it', async () => {
    await build()
    const service = await serve([
      process.execPath,
      join(checkout, 'collector/ops/launch/footfall.mjs'),
      'serve',
    ])
    const worker = join(checkout, 'collector/worker.ts')
    const before = readFileSync(worker, 'utf8')
    appendFileSync(worker, "\nthrow new Error('a newer worker')\n")
    await build()
    expect(readFileSync(join(checkout, 'dist/collector/worker.js'), 'utf8')).toContain(
      'a newer worker',
    )

    const [pid] = processesOf('worker.js')
    process.kill(pid!, 'SIGKILL')
    await waitFor(
      'another worker',
      () => processesOf('worker.js').some((other) => other !== pid),
      30_000,
    )
    await waitFor('its answer', service.answers, 30_000)

    service.process.kill('SIGTERM')
    expect(await service.ended).toMatchObject({ code: 0 })
    expect((await service.ended).output).not.toContain('a newer worker')
    rmSync(worker)
    appendFileSync(worker, before)
  }, 600_000)

  test('a build of the same sources is the same build, and old ones are forgotten', async () => {
    const builds = () => readdirSync(join(checkout, '.builds')).sort()
    await build()
    const once = builds()
    await build()
    expect(builds()).toEqual(once)
    // A build of other sources takes seconds; six are as good with one file more each.
    const publishCopies = `
      import { cpSync, writeFileSync } from 'node:fs'
      import { newDraft, publish } from './collector/ops/launch/builds.mjs'
      for (let release = 0; release < 6; release++) {
        const draft = newDraft()
        cpSync('dist/', draft, { recursive: true })
        writeFileSync(draft + '/release', String(release))
        publish(draft)
      }`
    const published = launch([process.execPath, '--input-type=module', '-e', publishCopies], {
      cwd: checkout,
    })
    expect(await published.ended).toMatchObject({ code: 0 })
    expect(readFileSync(join(checkout, 'dist/release'), 'utf8')).toBe('5')
    expect(builds()).toHaveLength(5)
    expect(builds()).toContain(realpathSync(join(checkout, 'dist')).split('/').at(-1))
  }, 600_000)
})

test('a Ctrl-C that comes twice, from the terminal and from npm, ends the service in order', async () => {
  await build()
  const service = await serve([
    process.execPath,
    join(checkout, 'collector/ops/launch/footfall.mjs'),
    'serve',
  ])
  service.process.kill('SIGINT')
  service.process.kill('SIGINT')
  expect(await service.ended).toMatchObject({ code: 0, signal: null })
}, 600_000)
