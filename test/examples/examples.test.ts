import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../collector/platform/localStores/supervise.ts'
import { packageRoot } from '../../collector/platform/paths.ts'
import { beaconOf, chrome, customEvent, readEvent, readRows } from '../harness/api.ts'
import { ownDatabases } from '../harness/databases.ts'
import { type Service, startService, waitFor } from '../harness/service.ts'

let service: Service
let browser: Browser
let site: Server
let siteUrl: string
/** Path → body; the rest is the application's page, as servers of such applications have it. */
const served = new Map<string, string>()

beforeAll(async () => {
  site = createServer((request, response) => {
    const path = new URL(request.url!, 'http://site').pathname
    const type = path.endsWith('.js') ? 'text/javascript' : 'text/html; charset=utf-8'
    response.setHeader('content-type', type).end(served.get(path) ?? served.get('/'))
  }).listen(0, '127.0.0.1')
  ;[service, browser] = await Promise.all([
    startService({ env: { ...(await ownDatabases()), FOOTFALL_TRUSTED_PROXIES: '127.0.0.1' } }),
    chromium.launch({
      executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu', '--disable-blink-features=AutomationControlled'],
    }),
  ])
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
})
afterAll(async () => {
  await browser?.close()
  await service?.stop()
  site.close()
})

/** An example as its user would have it: with a pixel's id and the collector's address filled in. */
const filledIn = (text: string) =>
  text.replaceAll('PIXEL_ID', service.demo.pixel_id).replaceAll('http://127.0.0.1:8787', service.url)

const read = (name: string) => readFileSync(join(packageRoot, 'examples', name), 'utf8')

async function visit<T>(path: string, work: (page: Page) => Promise<T>): Promise<T> {
  const context = await browser.newContext({ userAgent: chrome })
  try {
    const page = await context.newPage()
    const errors: string[] = []
    page.on('pageerror', ({ message }) => errors.push(message))
    await page.goto(new URL(path, siteUrl).href)
    const result = await work(page)
    expect(errors).toEqual([])
    return result
  } finally {
    await context.close()
  }
}

/** Waits for rows of the page or pages whose URL has this in it, as the API returns them. */
const arrived = (type: string, url: string, count = 1) =>
  waitFor(`${count} ${type} events of ${url}`, async () => {
    const filter = `event_type:eq:${type},event_data.url:like:%${url}%`
    const rows = await readRows(service, { filter, limit: '100' })
    return rows.length >= count ? rows.map(({ event_data }) => JSON.parse(event_data as string)) : null
  })

test('plain.html: what is called before the pixel has come arrives, and what the page marks', async () => {
  served.set('/plain.html', filledIn(read('plain.html')))
  await visit('/plain.html', async (page) => {
    await page.click('button')
    await arrived('page_view', '/plain.html')
    const events = await arrived('custom', '/plain.html', 2)
    expect(events.map(({ name, properties }) => [name, properties])).toEqual(
      expect.arrayContaining([
        ['example_seen', { kind: 'plain' }],
        ['signup', { plan: 'pro' }],
      ]),
    )
  })
})

test('react: started once, and each route is a page view with its own title', async () => {
  const { outputFiles } = await build({
    entryPoints: [join(packageRoot, 'examples/react/app.jsx')],
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    // Strict mode mounts twice in development: the harder case.
    define: { 'process.env.NODE_ENV': '"development"' },
  })
  served.set('/', read('react/index.html'))
  served.set('/app.js', filledIn(outputFiles[0]!.text))
  await visit('/?app', async (page) => {
    await page.waitForFunction('window.footfall?.on')
    await page.click('a[href="/cart"]')
    await page.click('button')
    const [custom] = await arrived('custom', '/cart')
    expect(custom).toMatchObject({ name: 'added_to_cart', properties: { sku: 'blue-vase' } })
    const views = [...(await arrived('page_view', '/?app')), ...(await arrived('page_view', '/cart'))]
    expect(views.map(({ title }) => title)).toEqual(['Vases', 'Cart'])
  })
})

test('google-tag-manager.html: works as Tag Manager inserts it', async () => {
  served.set('/tag', filledIn(read('google-tag-manager.html')))
  // Scripts of a Custom HTML tag are made anew, with what Tag Manager knows of them.
  served.set(
    '/tagged',
    `<title>tagged</title><body><script>
      fetch('/tag').then((answer) => answer.text()).then((html) => {
        const template = document.createElement('template')
        template.innerHTML = html
        for (const { src, text } of template.content.querySelectorAll('script')) {
          const script = document.createElement('script')
          if (src) Object.assign(script, { src, async: true })
          else script.text = text
          document.body.append(script)
        }
      })</script></body>`,
  )
  await visit('/tagged', () => arrived('page_view', '/tagged'))
})

test('wordpress.php: prints the snippet that the collector gives out for the pixel', async () => {
  const php = filledIn(read('wordpress.php'))
  const [, script] = /FOOTFALL_SCRIPT = '([^']+)'/.exec(php)!
  const printed = /\?>\n([\s\S]*?)\n\t<\?php/.exec(php)![1]!
  const answer = await fetch(`${service.url}/p/${service.demo.pixel_id}.json`)
  const { snippet } = (await answer.json()) as { snippet: string }
  expect(printed.replace('<?php echo esc_url( FOOTFALL_SCRIPT ); ?>', script!)).toBe(snippet)
})

test('nginx.conf: script, events, cookie and address under the site’s own name', async () => {
  const proxy = await startNginx(filledIn(read('nginx.conf')))
  try {
    served.set(
      '/proxied',
      `<title>proxied</title><script async src="/stats/p/${service.demo.pixel_id}.js"></script>`,
    )
    await visit(`${proxy.url}/proxied`, async (page) => {
      const answer = await page.waitForResponse((response) => response.url() === `${proxy.url}/stats/e`)
      expect(await answer.headerValue('set-cookie')).toMatch(
        /^footfall=[\da-f-]{36}; .*HttpOnly; SameSite=Lax$/,
      )
      await arrived('page_view', '/proxied')
    })

    const event = customEvent()
    await postFrom('127.0.0.9', `${proxy.url}/stats/e`, JSON.stringify(beaconOf(service, [event])))
    expect((await readEvent(service, event.event_id)).client_ip).toBe('127.0.0.9')

    // Nothing but what pages load and send to: the rest is the site's own, which has its page for it.
    const sitePage = await (await fetch(`${proxy.url}/stats/nothing`)).text()
    for (const path of [
      '',
      'metrics',
      'healthz',
      'docs',
      'openapi.json',
      'sign-in',
      'api/v1/whoami',
      'v1/whoami',
      'p/..%2fmetrics',
    ]) {
      expect(await (await fetch(`${proxy.url}/stats/${path}`)).text(), path).toBe(sitePage)
    }
    expect(
      (await fetch(`${proxy.url}/stats/e.gif?pixel_id=${service.demo.pixel_id}&url=http://x.example/`))
        .status,
    ).toBe(200)
  } finally {
    await proxy.stop()
  }
})

/** A real nginx: the example in the server block of a site. */
async function startNginx(example: string) {
  const nginx = '/usr/sbin/nginx'
  if (!existsSync(nginx)) throw new Error('nginx is missing: on Debian as root "npm test" installs it')
  const directory = mkdtempSync(join(tmpdir(), 'footfall-nginx-'))
  const port = await freePort()
  writeFileSync(join(directory, 'site.conf'), example)
  writeFileSync(
    join(directory, 'nginx.conf'),
    `daemon off; master_process off; pid ${directory}/pid; error_log stderr;
    events {}
    http {
      access_log off;
      ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${directory}/${name};`).join(' ')}
      server {
        listen 127.0.0.1:${port};
        include ${directory}/site.conf;
        location / { proxy_pass ${siteUrl}; }
      }
    }`,
  )
  const child = spawn(nginx, ['-p', directory, '-c', join(directory, 'nginx.conf')], { stdio: 'inherit' })
  const url = `http://127.0.0.1:${port}`
  await waitFor('nginx', () =>
    fetch(url).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  return {
    url,
    async stop() {
      const gone = once(child, 'exit')
      child.kill('SIGTERM')
      await gone
      rmSync(directory, { recursive: true })
    },
  }
}

const postFrom = (localAddress: string, url: string, body: string) =>
  new Promise((answered, failed) => {
    const headers = { 'content-type': 'text/plain' }
    request(url, { method: 'POST', localAddress, headers }, (response) =>
      response.resume().on('end', answered),
    )
      .on('error', failed)
      .end(body)
  })
