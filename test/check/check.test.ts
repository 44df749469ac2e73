import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { startBrowser } from '../../collector/ops/check/checkCommand.ts'
import { explain } from '../../collector/ops/check/explain.ts'
import { observe } from '../../collector/ops/check/observe.ts'
import { freePort } from '../../collector/platform/localStores/supervise.ts'
import { packageRoot } from '../../collector/platform/paths.ts'
import { snippet } from '../../pixel/stub.mjs'
import { readRows } from '../harness/api.ts'
import { newPostgresDatabase, newServiceDatabases } from '../harness/databases.ts'
import { type Service, startService, waitFor } from '../harness/service.ts'

/** How long a page that sends nothing is watched. */
const patienceMs = 2500

let service: Service
let postgres: pg.Client
let browser: Browser
let site: Server
let siteUrl: string
/** Path → what is served there. */
const pages = new Map<string, { body: string; headers?: Record<string, string>; status?: number }>()

beforeAll(async () => {
  const databaseUrl = await newPostgresDatabase()
  const env = {
    DATABASE_URL: databaseUrl,
    CLICKHOUSE_URL: inject('clickhouseUrl'),
    CLICKHOUSE_DATABASE: await newServiceDatabases(),
    FOOTFALL_DEMO: 'true',
  }
  site = createServer((request, response) => {
    const page = pages.get(request.url!)
    const type = request.url!.endsWith('.js') ? 'text/javascript' : 'text/html; charset=utf-8'
    response.writeHead(page ? (page.status ?? 200) : 404, {
      'content-type': type,
      ...page?.headers,
    })
    response.end(page?.body ?? 'nothing here')
  }).listen(0, '127.0.0.1')
  ;[service, browser] = await Promise.all([
    startService({ env }),
    startBrowser(process.env.CHROMIUM_PATH ?? null),
  ])
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  postgres = new pg.Client({ connectionString: databaseUrl })
  await postgres.connect()
})
afterAll(async () => {
  await browser?.close()
  await postgres?.end()
  await service?.stop()
  site.close()
})

/** A page with this head, and the findings of the command. */
async function findings(head: string, headers: Record<string, string> = {}): Promise<string[]> {
  const path = `/${randomUUID()}`
  pages.set(path, {
    body: `<!doctype html><title>x</title><head>${head}</head><body>text</body>`,
    headers,
  })
  const found = explain(await observe(browser, siteUrl + path, patienceMs))
  return found.map(({ ok, text }) => `${ok ? 'ok' : 'no'} ${text}`)
}

const scriptUrl = (pixelId: string) => `${service.url}/p/${pixelId}.js`

/** Makes a pixel of the demo's project, and waits until the collector knows it. */
async function newPixel(column: string, value: unknown): Promise<string> {
  const { rows } = await postgres.query(
    `INSERT INTO pixels (pixel_id, project_id, name, ${column})
     SELECT gen_random_uuid(), project_id, 'test', $1 FROM pixels LIMIT 1
     RETURNING pixel_id`,
    [value],
  )
  const pixelId: string = rows[0].pixel_id
  await waitFor('the pixel', async () => (await fetch(scriptUrl(pixelId))).status !== 404)
  return pixelId
}

/** Runs the command as a user would. */
const run = (url: string, env: Record<string, string> = {}) =>
  new Promise<{ code: number; stdout: string; stderr: string }>((done) =>
    execFile(
      process.execPath,
      [join(packageRoot, 'dist/collector/cli.js'), 'check', url],
      { env: { ...process.env, ...env } },
      (error, stdout, stderr) => done({ code: error ? Number(error.code) : 0, stdout, stderr }),
    ),
  )

test('a page with the snippet: installed, running, what it sent was accepted; exit code 0', async () => {
  pages.set('/good', { body: `<title>x</title>${snippet(scriptUrl(service.demo.pixel_id))}` })
  const { code, stdout } = await run(`${siteUrl}/good`)
  expect(stdout.split('\n')).toEqual([
    '✓ The page answered 200.',
    expect.stringContaining(
      `✓ Pixel ${service.demo.pixel_id} is installed: ${scriptUrl(service.demo.pixel_id)}`,
    ),
    '✓ The pixel runs on the page.',
    expect.stringMatching(/^✓ Without a choice in a banner, it sent an id of the visitor/),
    expect.stringMatching(
      /^✓ It sent page_view.* to http.*\/e: \d accepted and marked as a test\.$/,
    ),
    '',
  ])
  expect(code).toBe(0)
})

test('the events of a check are marked as a test', async () => {
  const path = `/${randomUUID()}`
  pages.set(path, { body: `<title>x</title>${snippet(scriptUrl(service.demo.pixel_id))}` })
  await observe(browser, siteUrl + path, patienceMs)
  const [row] = await waitFor('the event', async () => {
    const rows = await readRows(service, { filter: `event_type:eq:page_view,page_path:eq:${path}` })
    return rows.length > 0 ? rows : null
  })
  expect(row).toMatchObject({ is_bot: true, bot_reason: 'test' })
})

test('a pixel that drops bots, and a project that ignores the page: the pixel works, and the reason is named', async () => {
  const pixelId = await newPixel('settings', { drop_bots: true })
  const lines = await findings(snippet(scriptUrl(pixelId)))
  expect(lines.at(-1)).toMatch(
    /^ok It sent page_view.*: \d not stored, because this pixel drops bots/,
  )
  const ignore = (hosts: string[]) =>
    postgres.query('UPDATE projects SET ignored_hosts = $1', [hosts])
  await ignore(['127.0.0.1'])
  try {
    await waitFor('the setting', async () => {
      const [last] = (await findings(snippet(scriptUrl(service.demo.pixel_id)))).slice(-1)
      return /^ok It sent page_view.*: \d ignored, because the project ignores the host of this page/.test(
        last!,
      )
    })
  } finally {
    await ignore([])
  }
})

test('a page with the id of a pixel that does not exist: exit code 1', async () => {
  pages.set('/unknown', { body: `<title>x</title>${snippet(scriptUrl(randomUUID()))}` })
  const { code, stdout } = await run(`${siteUrl}/unknown`)
  expect(stdout).toMatch(/^✗ http.* answered 404: the collector has no pixel/m)
  expect(code).toBe(1)
})

test('no browser: one line that says how to get one', async () => {
  const { code, stderr } = await run(siteUrl, { CHROMIUM_PATH: '/nowhere/chromium' })
  expect(stderr).toContain(
    'footfall: CHROMIUM_PATH: /nowhere/chromium does not exist. Set the path of Chromium, or remove the setting\n',
  )
  expect(code).toBe(1)
})

test('a page that is not there, and one that does not answer', async () => {
  expect(explain(await observe(browser, `${siteUrl}/nothing`, 0))[0]!.text).toContain(
    'answered 404',
  )
  const [finding] = explain(await observe(browser, `http://127.0.0.1:${await freePort()}/`, 0))
  expect(finding).toMatchObject({ ok: false, text: expect.stringContaining('did not load') })
})

test('a page without the pixel, with the stub alone, and with the snippet as copied', async () => {
  expect((await findings('')).at(-1)).toMatch(
    /^no The pixel is not installed: the page has no script/,
  )
  const [stub] = snippet('/').split('\n')
  expect((await findings(stub!)).at(-1)).toMatch(
    /^no The pixel is not installed: the page has the inline stub/,
  )
  expect((await findings(snippet(scriptUrl('PIXEL_ID'))))[1]).toContain('no “PIXEL_ID” in')
})

test('a pixel that has been switched off', async () => {
  const pixelId = await newPixel('active', false)
  expect((await findings(snippet(scriptUrl(pixelId))))[1]).toMatch(
    /^no .* 403: .* has been switched off/,
  )
})

test('a page whose origin the pixel does not allow', async () => {
  const pixelId = await newPixel('allowed_origins', ['https://shop.example'])
  const lines = await findings(snippet(scriptUrl(pixelId)))
  expect(lines[2]).toBe('ok The pixel runs on the page.')
  expect(lines.at(-1)).toMatch(
    new RegExp(`^no It sent page_view.*: 403, .*${siteUrl}.*allowed origins`),
  )
})

test('what a pixel sends before and after consent', async () => {
  const under = async (consent: string) => {
    const pixelId = await newPixel('settings', { consent })
    return (await findings(snippet(scriptUrl(pixelId)))).slice(-2)
  }
  expect(await under('cookieless')).toEqual([
    'ok Without consent, it sent no id of the visitor.',
    expect.stringMatching(/^ok It sent page_view/),
  ])
  for (const waiting of ['hold', 'off'])
    expect(await under(waiting)).toEqual([
      "ok Without consent, it sent nothing. Then the check called footfall('consent', 'granted').",
      expect.stringMatching(/^ok It sent page_view/),
    ])
})

test('a script that a consent manager holds back', async () => {
  const tag = `<script type="text/plain" src="${scriptUrl(service.demo.pixel_id)}"></script>`
  expect((await findings(tag))[1]).toContain('is held back: its script tag has type “text/plain”')
})

test('a Content-Security-Policy that blocks the script, the beacon or the stub', async () => {
  const page = snippet(scriptUrl(service.demo.pixel_id))
  const under = (policy: string) => findings(page, { 'content-security-policy': policy })
  expect((await under(`script-src 'unsafe-inline' 'self'`))[1]).toMatch(
    /^no The page’s Content-Security-Policy \(script-src-elem\) blocks http/,
  )
  expect((await under(`connect-src 'self'`)).at(-1)).toMatch(
    /^no The page’s Content-Security-Policy \(connect-src\) blocks requests to .*\/e:/,
  )
  const lines = await under(`script-src ${service.url}`)
  expect(lines.filter((line) => line.startsWith('no'))).toEqual([
    expect.stringContaining('the inline stub'),
  ])
})

test('a collector that cannot be reached, one that is somebody else, and one that answers with an error', async () => {
  const at = (path: string) => snippet(`${siteUrl}/${path}/p/${service.demo.pixel_id}.js`)
  const nobody = `http://127.0.0.1:${await freePort()}`
  expect((await findings(at('x').replace(siteUrl, nobody))).at(-1)).toMatch(
    /^no .* did not load: its host cannot be reached/,
  )
  pages.set(`/other/p/${service.demo.pixel_id}.js`, { body: 'void 0' })
  expect((await findings(at('other'))).at(-1)).toMatch(
    /^no The script loaded, but .* does not serve the pixel/,
  )
  pages.set(`/throws/p/${service.demo.pixel_id}.js`, { body: 'throw new Error("broken")' })
  expect((await findings(at('throws'))).at(-1)).toBe(
    'no The pixel’s script stopped with an error: broken.',
  )
})

test('an integrity attribute of another version', async () => {
  const integrity = `sha384-${'A'.repeat(64)}`
  expect((await findings(snippet(scriptUrl(service.demo.pixel_id), { integrity }))).at(-1)).toMatch(
    /^no .* the browser refused it: .*integrity/,
  )
})
