import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { freePort } from '../../collector/platform/localStores/supervise.ts'
import { packageRoot } from '../../collector/platform/paths.ts'
import { beaconOf, customEvent, readEvent } from '../harness/api.ts'
import { waitFor } from '../harness/service.ts'
import { useSite } from './site.ts'

const site = useSite()

test('plain.html: what is called before the pixel has come arrives, and what the page marks', async () => {
  site.serve('/plain.html', site.filledIn(site.read('plain.html')))
  await site.visit('/plain.html', async (page) => {
    await page.click('button')
    await site.arrived('page_view', '/plain.html')
    const events = await site.arrived('custom', '/plain.html', 2)
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
    alias: { 'footfall-pixel/pixel': join(packageRoot, 'dist/pixel/index.js') },
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    // Strict mode mounts twice in development: the harder case.
    define: { 'process.env.NODE_ENV': '"development"' },
  })
  site.serve('/', site.read('react/index.html'))
  site.serve('/app.js', site.filledIn(outputFiles[0]!.text))
  await site.visit('/?app', async (page) => {
    await page.waitForFunction('window.footfall?.on')
    await page.click('a[href="/cart"]')
    await page.click('button')
    const [custom] = await site.arrived('custom', '/cart')
    expect(custom).toMatchObject({ name: 'added_to_cart', properties: { sku: 'blue-vase' } })
    const views = [
      ...(await site.arrived('page_view', '/?app')),
      ...(await site.arrived('page_view', '/cart')),
    ]
    expect(views.map(({ title }) => title)).toEqual(['Vases', 'Cart'])
  })
})

test('google-tag-manager.html: works as Tag Manager inserts it', async () => {
  site.serve('/tag', site.filledIn(site.read('google-tag-manager.html')))
  // Scripts of a Custom HTML tag are created again, with the values of Tag Manager.
  site.serve(
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
  await site.visit('/tagged', () => site.arrived('page_view', '/tagged'))
})

test('wordpress.php: prints the snippet that the collector gives out for the pixel', async () => {
  const php = site.filledIn(site.read('wordpress.php'))
  const [, script] = /FOOTFALL_SCRIPT = '([^']+)'/.exec(php)!
  const printed = /\?>\n([\s\S]*?)\n\t<\?php/.exec(php)![1]!
  const answer = await fetch(`${site.service.url}/p/${site.service.demo.pixel_id}.json`)
  const { snippet } = (await answer.json()) as { snippet: string }
  expect(printed.replace('<?php echo esc_url( FOOTFALL_SCRIPT ); ?>', script!)).toBe(snippet)
})

test('nginx.conf: script, events, cookie and address under the site’s own name', async () => {
  const proxy = await startNginx(site.filledIn(site.read('proxies/nginx.conf')))
  try {
    site.serve(
      '/proxied',
      `<title>proxied</title><script async src="/f3a9c2/p/${site.service.demo.pixel_id}.js"></script>`,
    )
    await site.visit(`${proxy.url}/proxied`, async (page) => {
      const answer = await page.waitForResponse(
        (response) => response.url() === `${proxy.url}/f3a9c2/e`,
      )
      expect(await answer.headerValue('set-cookie')).toMatch(
        /^footfall=[\da-f-]{36}; .*HttpOnly; SameSite=Lax$/,
      )
      await site.arrived('page_view', '/proxied')
    })

    const event = customEvent()
    await postFrom(
      '127.0.9.9',
      `${proxy.url}/f3a9c2/e`,
      JSON.stringify(beaconOf(site.service, [event])),
    )
    expect((await readEvent(site.service, event.event_id)).client_ip).toBe('127.0.9.0')

    // Nothing but what pages load and send to: the rest is the site's own, which has its page for it.
    const sitePage = await (await fetch(`${proxy.url}/f3a9c2/nothing`)).text()
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
      expect(await (await fetch(`${proxy.url}/f3a9c2/${path}`)).text(), path).toBe(sitePage)
    }
    expect(
      (
        await fetch(
          `${proxy.url}/f3a9c2/e.gif?pixel_id=${site.service.demo.pixel_id}&url=http://x.example/`,
        )
      ).status,
    ).toBe(200)
  } finally {
    await proxy.stop()
  }
})

test('cloudflare-worker.js: script and events with the visitor’s address, and nothing else', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'footfall-worker-'))
  const file = join(directory, 'worker.mjs')
  writeFileSync(file, site.filledIn(site.read('proxies/cloudflare-worker.js')))
  const worker = (await import(file)).default as { fetch(request: Request): Promise<Response> }
  rmSync(directory, { recursive: true })
  const headers = { 'cf-connecting-ip': '127.0.9.8', 'content-type': 'text/plain' }
  const ask = (path: string, body?: string) =>
    worker.fetch(
      new Request(`${site.url}${path}`, { headers, ...(body && { method: 'POST', body }) }),
    )
  const script = await ask(`/f3a9c2/p/${site.service.demo.pixel_id}.js`)
  expect([script.status, await script.text()]).toEqual([200, expect.stringContaining('footfall')])
  const event = customEvent()
  const sent = await ask('/f3a9c2/e', JSON.stringify(beaconOf(site.service, [event])))
  expect(sent.status).toBe(200)
  expect((await readEvent(site.service, event.event_id)).client_ip).toBe('127.0.9.0')
  const sitePage = await (await fetch(`${site.url}/nothing`)).text()
  for (const path of ['metrics', 'docs', 'api/v1/whoami', 'v1/whoami', 'p/..%2fmetrics'])
    expect(await (await ask(`/f3a9c2/${path}`)).text(), path).toBe(sitePage)
})

test('next.config.mjs rewrites the routes of nginx.conf, and no other', async () => {
  const config = (await import(join(packageRoot, 'examples/proxies/next.config.mjs'))).default
  const rules: { source: string; destination: string }[] = await config.rewrites()
  expect(rules.map(({ destination }) => destination)).toEqual([
    'https://collector.example/e',
    'https://collector.example/e.gif',
    'https://collector.example/p/:script',
    'https://collector.example/v1/:call',
  ])
  const published = /v1\/?\(([^)]+)\)/
  const [, calls] = published.exec(site.read('proxies/nginx.conf'))!
  for (const name of ['Caddyfile', 'cloudflare-worker.js'])
    expect([name, site.read(`proxies/${name}`)]).toEqual([name, expect.stringContaining(calls!)])
  expect(rules[3]!.source).toBe(`/f3a9c2/v1/:call(${calls})`)
})

/** A real nginx: the example in the server block of a site. */
async function startNginx(example: string) {
  const nginx = '/usr/sbin/nginx'
  if (!existsSync(nginx))
    throw new Error('nginx is missing: on Debian as root "npm test" installs it')
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
        location / { proxy_pass ${site.url}; }
      }
    }`,
  )
  const child = spawn(nginx, ['-p', directory, '-c', join(directory, 'nginx.conf')], {
    stdio: 'inherit',
  })
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
