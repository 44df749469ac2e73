/** HAProxy and nginx as shipped: the printed snippet works at one address, the dashboard at the other. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { packageRoot } from '../../collector/platform/paths.ts'
import { chrome, readRows } from '../harness/api.ts'
import { leaveChromium, openChromium } from '../harness/chromium.ts'
import { ownDatabases } from '../harness/databases.ts'
import { type Service, startService, waitFor } from '../harness/service.ts'
import { freeAddresses, type RunningProxy, startProxy } from './proxies.ts'

describe.each(['haproxy', 'nginx'] as const)('%s', (name) => {
  let directory: string
  let env: Record<string, string>
  let service: Service
  let proxy: RunningProxy
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'footfall-public-urls-'))
    const addresses = await freeAddresses()
    env = {
      ...(await ownDatabases()),
      FOOTFALL_TRUSTED_PROXIES: '127.0.0.1',
      FOOTFALL_PUBLIC_URL: addresses.inside,
      FOOTFALL_COLLECTOR_URL: addresses.world,
    }
    service = await startService({ env })
    proxy = await startProxy(name, directory, [service.url, service.url], addresses)
  })
  afterAll(async () => {
    proxy?.process.kill('SIGKILL')
    await service?.stop()
    rmSync(directory, { recursive: true, force: true })
  })

  /** A session of the dashboard, as its own pages start and use it. */
  async function signIn() {
    const { admin_email: email, admin_password: password } = service.demo
    const headers = { 'content-type': 'application/json', origin: proxy.inside }
    const answer = await fetch(`${proxy.inside}/dashboard/session`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ email, password }),
    })
    expect(answer.status).toBe(200)
    const cookie = answer.headers.getSetCookie()[0]!.split(';')[0]!
    return { ...headers, cookie }
  }

  test('the snippet of a pixel that the dashboard makes sends a page view through the proxy', async () => {
    const session = await signIn()
    const made = await fetch(`${proxy.inside}/api/v1/pixel/create`, {
      method: 'POST',
      headers: session,
      body: JSON.stringify({ project_id: service.demo.project_id, name: 'Behind a proxy' }),
    })
    expect(made.status).toBe(201)
    const { pixel } = (await made.json()) as { pixel: { snippet: string; script_url: string } }
    expect(pixel.script_url).toMatch(new RegExp(`^${proxy.world}/p/`))

    const site = createServer((_request, response) =>
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(`<!doctype html><title>Site</title>${pixel.snippet}`),
    ).listen(0, '127.0.0.1')
    const browser = await openChromium()
    const context = await browser.newContext({ userAgent: chrome })
    try {
      const page = await context.newPage()
      const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/bought`
      await page.goto(url)
      const filter = `event_type:eq:page_view,event_data.url:eq:${url}`
      await waitFor('the page view', async () => (await readRows(service, { filter })).length === 1)
    } finally {
      await context.close()
      await leaveChromium(browser)
      site.close()
    }
  })

  test('every printed address of the pixel is the collector’s, every other the dashboard’s', async () => {
    const { pixel_id, collector_url, dashboard_url, demo_url } = JSON.parse(
      readFileSync(join(service.dataDir, 'demo.json'), 'utf8'),
    )
    expect({ collector_url, dashboard_url, demo_url }).toEqual({
      collector_url: proxy.world,
      dashboard_url: `${proxy.inside}/`,
      demo_url: `${proxy.inside}/demo`,
    })
    const installation = await (await fetch(`${proxy.world}/p/${pixel_id}.json`)).json()
    expect(installation).toMatchObject({ script_url: `${proxy.world}/p/${pixel_id}.js` })
    expect(await (await fetch(`${proxy.world}/p/${pixel_id}.js`)).text()).not.toContain(
      proxy.inside,
    )

    const { stdout } = await promisify(execFile)(
      process.execPath,
      [
        join(packageRoot, 'dist/collector/cli.js'),
        'setup',
        '--organization',
        'Acme',
        '--email',
        'owner@example.com',
        '--project',
        'Acme site',
      ],
      { env: { PATH: process.env.PATH, ...env, FOOTFALL_DATA_DIR: service.dataDir } },
    )
    expect(stdout).toContain(` src="${proxy.world}/p/`)
    expect(stdout).toContain(`${proxy.inside}/reset-password/`)
    expect(stdout).toContain(`'${proxy.inside}/api/v3/`)
    expect(stdout).not.toContain(`${proxy.inside}/p/`)
  })
})
