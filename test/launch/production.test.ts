/** A service over stores of one's own, as an operator installs it: without what only `npm start` needs. */
import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildRoot, packageRoot } from '../../collector/platform/paths.ts'
import { customEvent, postBeacon, type Row } from '../harness/api.ts'
import { dropDatabases, newEmptyPostgresDatabase, ownDatabases } from '../harness/databases.ts'
import { type Service, startService, waitFor } from '../harness/service.ts'

const {
  optionalDependencies,
  devDependencies: _dev,
  ...manifest
} = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
  optionalDependencies: Record<string, string>
}

let directory: string
let checkout: string
let env: Record<string, string>
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'footfall-production-'))
  checkout = join(directory, 'footfall')
  makeCheckout()
  env = {
    ...(await ownDatabases()),
    DATABASE_URL: await newEmptyPostgresDatabase(),
    FOOTFALL_DEMO: 'false',
    FOOTFALL_DATA_DIR: join(directory, 'data'),
    FOOTFALL_PUBLIC_URL: 'https://collector.example',
  }
})
afterAll(async () => {
  await dropDatabases()
  rmSync(directory, { recursive: true, force: true })
})

/** The build, with the packages alone that every service needs. */
function makeCheckout(): void {
  mkdirSync(checkout)
  writeFileSync(join(checkout, 'package.json'), JSON.stringify(manifest))
  for (const name of ['collector', 'examples', 'pixel', 'schemas'])
    symlinkSync(join(packageRoot, name), join(checkout, name))
  cpSync(buildRoot, join(checkout, 'dist'), { recursive: true, dereference: true })
  for (const name of Object.keys(manifest.dependencies)) {
    const link = join(checkout, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(packageRoot, 'node_modules', name), link)
  }
  for (const name of Object.keys(optionalDependencies))
    expect(existsSync(join(checkout, 'node_modules', name)), name).toBe(false)
}

const footfall = (args: string[], more: Record<string, string> = env) =>
  new Promise<{ code: number; output: string }>((resolve) => {
    execFile(
      process.execPath,
      [join(checkout, 'dist/collector/cli.js'), ...args],
      { env: { ...process.env, ...more } },
      (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    )
  })

test('setup before the first start, then the pixel, its script, an event and who reads it, all as printed', async () => {
  const flags = [
    '--organization',
    'Example Inc',
    '--email',
    'olga@example.com',
    '--project',
    'Shop',
  ]
  const { code, output } = await footfall(['setup', ...flags])
  expect(code, output).toBe(0)
  const [, key, secret, path] =
    /X-Api-Key: (\S+)'[\s\S]*X-Api-Secret: (\S+)'[\s\S]*'https:\/\/collector\.example(\S+)'/.exec(
      output,
    )!
  const [, pixel_id] = /https:\/\/collector\.example\/p\/([0-9a-f-]{36})\.js/.exec(output)!

  const service: Service = await startService({ env, checkout, dataDir: env.FOOTFALL_DATA_DIR! })
  try {
    expect((await fetch(`${service.url}/p/${pixel_id}.js`)).status).toBe(200)
    const event = customEvent()
    const beacon = { pixel_id, sent_at: new Date().toISOString(), events: [event] }
    expect((await postBeacon(service.url, beacon)).status).toBe(200)
    const headers = { 'x-api-key': key!, 'x-api-secret': secret! }
    const rows = await waitFor('the event', async () => {
      const answer = await fetch(service.url + path!, { headers })
      expect(answer.status).toBe(200)
      const { rows } = (await answer.json()) as { rows: Row[] }
      return rows.length > 0 && rows
    })
    expect(rows).toMatchObject([{ event_id: event.event_id, pixel_id }])
    await waitFor('the addresses', () =>
      /listens on 127\.0\.0\.1:\d+, for https:\/\/collector\.example$/m.test(service.output()),
    )
  } finally {
    await service.end('SIGTERM')
  }
  expect(service.output()).not.toMatch(/ERR_MODULE_NOT_FOUND|Cannot find/)
})

test('the build contains no optional package, so that it succeeds without them', () => {
  const bundles = join(buildRoot, 'collector')
  const maps = readdirSync(bundles, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.js.map'),
  )
  expect(maps).not.toEqual([])
  const bundled = maps.flatMap((name) => {
    const { sources } = JSON.parse(readFileSync(join(bundles, name), 'utf8')) as {
      sources: string[]
    }
    return Object.keys(optionalDependencies).filter((each) =>
      sources.some((source) => source.includes(`node_modules/${each}/`)),
    )
  })
  expect(bundled).toEqual([])
})

test('what needs a package that was left out says how it is installed', async () => {
  expect(await footfall(['check', 'http://127.0.0.1:9'])).toEqual({
    code: 1,
    output: expect.stringMatching(
      /playwright-core, .* is not installed: npm install --no-save playwright-core/,
    ),
  })
  const { CLICKHOUSE_URL: _, ...without } = env
  const started = startService({ env: without, checkout, dataDir: join(directory, 'none') })
  await expect(started).rejects.toThrow(
    /the local ClickHouse, is not installed: set CLICKHOUSE_URL/,
  )
})
