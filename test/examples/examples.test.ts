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
  const proxy = await startNginx(site.filledIn(site.read('nginx.conf')))
  try {
    site.serve(
      '/proxied',
      `<title>proxied</title><script async src="/stats/p/${site.service.demo.pixel_id}.js"></script>`,
    )
    await site.visit(`${proxy.url}/proxied`, async (page) => {
      const answer = await page.waitForResponse(
        (response) => response.url() === `${proxy.url}/stats/e`,
      )
      expect(await answer.headerValue('set-cookie')).toMatch(
        /^footfall=[\da-f-]{36}; .*HttpOnly; SameSite=Lax$/,
      )
      await site.arrived('page_view', '/proxied')
    })

    const event = customEvent()
    await postFrom(
      '127.0.9.9',
      `${proxy.url}/stats/e`,
      JSON.stringify(beaconOf(site.service, [event])),
    )
    expect((await readEvent(site.service, event.event_id)).client_ip).toBe('127.0.9.0')

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
      (
        await fetch(
          `${proxy.url}/stats/e.gif?pixel_id=${site.service.demo.pixel_id}&url=http://x.example/`,
        )
      ).status,
    ).toBe(200)
  } finally {
    await proxy.stop()
  }
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
