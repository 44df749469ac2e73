import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { transform } from 'esbuild'
import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { stub } from '../../pixel/stub.mjs'
import { chrome } from '../harness/api.ts'
import { waitFor } from '../harness/service.ts'
import { useSite } from './site.ts'

const site = useSite()

const directory = mkdtempSync(join(tmpdir(), 'footfall-examples-'))
afterAll(() => rmSync(directory, { recursive: true }))

/** What an example exports, once its placeholders are filled in. */
async function imported(name: string, code = site.filledIn(site.read(name))) {
  const path = join(directory, name.replaceAll('/', '-').replace(/\.jsx?$/, '.mjs'))
  writeFileSync(path, code)
  return import(pathToFileURL(path).href)
}

/** Parts of a page that the snippet needs and that are no example themselves. */
const snippet = () =>
  site.filledIn(
    `<script>${stub}</script><script async src="http://127.0.0.1:8787/p/PIXEL_ID.js"></script>`,
  )

/** Says what a page's policy blocked. */
const blocked = (page: Page) => {
  const found: string[] = []
  page.on('console', (message) => {
    if (/content security policy|integrity/i.test(message.text())) found.push(message.text())
  })
  return found
}

test('nextjs: the layout renders the snippet into the head', async () => {
  const { code } = await transform(site.filledIn(site.read('nextjs/layout.jsx')), { loader: 'jsx' })
  const { html } = await imported(
    'nextjs/layout.jsx',
    `import React from ${JSON.stringify(import.meta.resolve('react'))}
    import { renderToStaticMarkup } from ${JSON.stringify(import.meta.resolve('react-dom/server'))}
    ${code}
    export const html = renderToStaticMarkup(
      React.createElement(RootLayout, null, React.createElement('button', null, 'Buy')))`,
  )
  site.serve('/next', `<!doctype html>${html}`)
  await site.visit('/next', async (page) => {
    await page.click('button')
    await site.arrived('page_view', '/next')
    await site.arrived('click', '/next')
  })
})

test('nuxt.config.js: its head has the snippet', async () => {
  const { default: config } = await imported('nuxt.config.js')
  const tags = config.app.head.script.map(({ innerHTML = '', src }: Record<string, string>) =>
    src ? `<script async src="${src}"></script>` : `<script>${innerHTML}</script>`,
  )
  site.serve(
    '/nuxt',
    `<title>nuxt</title>${tags.join('')}<script>footfall('track', 'early')</script>`,
  )
  await site.visit('/nuxt', async () => {
    await site.arrived('page_view', '/nuxt')
    await site.arrived('custom', '/nuxt')
  })
})

test('webflow.html: works as head code', async () => {
  site.serve(
    '/webflow',
    `<head><title>webflow</title>${site.filledIn(site.read('webflow.html'))}</head>`,
  )
  await site.visit('/webflow', () => site.arrived('page_view', '/webflow'))
})

test('shopify: the banner’s choice is the pixel’s; what is bought is told for the same visitor', async () => {
  const liquid = site
    .filledIn(site.read('shopify/footfall.liquid'))
    .replace(/{% comment %}.*{% endcomment %}/s, '')
  expect(liquid).not.toContain('{%')
  // What Shopify gives to custom pixels, of the page that is open.
  const sandbox = `<script>
    analytics = { subscribe: (name, told) => addEventListener(name, ({ detail }) => told(detail)) }
    browser = { cookie: { get: async (name) => (document.cookie.match(name + '=([^;]+)') || ['', ''])[1] } }
  </script><script>{${site.filledIn(site.read('shopify/customer-events.js'))}}</script>`
  site.serve('/shopify', `<title>shopify</title>${liquid}${sandbox}`)
  await site.visit('/shopify', async (page) => {
    await site.arrived('page_view', '/shopify')
    await page.waitForFunction(`document.cookie.includes('footfall_id=')`)
    await page.evaluate(`dispatchEvent(new CustomEvent('checkout_completed', { detail: {
      id: crypto.randomUUID(), timestamp: new Date().toISOString(), context: { document: { location } },
      data: { checkout: { order: { id: '1001' }, totalPrice: { amount: 49.5 }, currencyCode: 'EUR', lineItems: [{}, {}] } }
    } }))`)
    const [purchase] = await site.arrivedRows('custom', '/shopify')
    expect(JSON.parse(purchase!.event_data as string)).toMatchObject({
      name: 'purchase',
      properties: { order: '1001', value: 49.5, currency: 'EUR', items: 2 },
    })
    const [view] = await site.arrivedRows('page_view', '/shopify')
    expect(purchase!.cookie_id).toBe(view!.cookie_id)
    await page.evaluate(`document.dispatchEvent(
      new CustomEvent('visitorConsentCollected', { detail: { analyticsAllowed: false } }))`)
    await page.waitForFunction(`!document.cookie.includes('footfall_id=')`)
  })
})

/** A page that waits for consent, with a bridge between the snippet and what `said` puts there. */
const serveBridge = (path: string, before: string, bridge: string) =>
  site.serve(
    path,
    `<title>consent</title>${before}${snippet()}<script>${site.read(`consent/${bridge}`)}</script>`,
  )
const keepsId = `document.cookie.includes('footfall_id=')`

test('google-consent-mode.js: updates from before and after it hold; a default costs nobody their id', async () => {
  const gtag = `<script>dataLayer = []; function gtag() { dataLayer.push(arguments) }
    gtag('consent', 'default', { analytics_storage: 'denied', wait_for_update: 500 })</script>`
  serveBridge('/consent-mode', gtag, 'google-consent-mode.js')
  serveBridge(
    '/consent-denied',
    `${gtag}<script>gtag('consent', 'update', { analytics_storage: 'denied' })</script>`,
    'google-consent-mode.js',
  )
  await site.visit('/consent-mode', async (page) => {
    await page.waitForFunction(keepsId)
    const id = await page.evaluate('document.cookie')
    await page.reload()
    await page.waitForFunction('footfall.on')
    expect(await page.evaluate('document.cookie')).toBe(id)
    await page.evaluate(`gtag('event', 'purchase', {}); dataLayer.push({ event: 'gtm.js' })
      gtag('consent', 'update', { ad_storage: 'granted' }); gtag('consent', 'update', { analytics_storage: 'denied' })`)
    await page.waitForFunction(`!${keepsId}`)
    await page.evaluate(`gtag('consent', 'update', { analytics_storage: 'granted' })`)
    await page.waitForFunction(keepsId)
    // The layer keeps what was pushed, for Google's own script.
    expect(await page.evaluate('dataLayer.length')).toBe(6)
  })
  await site.visit('/consent-denied', async (page) => {
    await site.arrived('page_view', '/consent-denied')
    expect(await page.evaluate(keepsId)).toBe(false)
  })
})

test('iab-tcf.js: the visitor’s choice of purposes 1 and 8, and only once it is made', async () => {
  const platform = `<script>
    listeners = []
    __tcfapi = (command, version, listener) => listeners.push(listener)
    say = (eventStatus, consents, gdprApplies = true) => {
      for (const listener of listeners) listener({ eventStatus, gdprApplies, purpose: { consents } }, true) }
  </script>`
  serveBridge('/tcf', platform, 'iab-tcf.js')
  await site.visit('/tcf', async (page) => {
    await page.waitForFunction(keepsId)
    const holds = async (call: string, isKept: boolean) => {
      // The id is kept or deleted once the choice applies.
      await page.evaluate(`${call}; footfall('track', 'chosen'); footfall('flush')`)
      await page.waitForFunction(isKept ? keepsId : `!${keepsId}`)
    }
    await holds(`say('cmpuishown', {})`, true)
    await holds(`say('useractioncomplete', { 1: true, 8: false })`, false)
    await holds(`say('useractioncomplete', { 1: true, 8: true })`, true)
    await holds(`say('tcloaded', { 8: true })`, false)
    await holds(`say('tcloaded', {}, false)`, true)
  })
})

test('content-security-policy/hashes.html: pinned, and refused where a byte is another', async () => {
  const answer = await fetch(`${site.service.url}/p/${site.service.demo.pixel_id}.json`)
  const { pinned_url, integrity } = (await answer.json()) as {
    pinned_url: string
    integrity: string
  }
  const html = site.filledIn(site.read('content-security-policy/hashes.html'))
  const hash = createHash('sha256').update(stub).digest('base64')
  expect(html).toContain(`'sha256-${hash}'`)
  const pinned = html.replaceAll('PINNED_URL', pinned_url).replaceAll('PINNED_INTEGRITY', integrity)
  site.serve('/hashes', pinned)
  await site.visit('/hashes', async (page) => {
    const found = blocked(page)
    await page.click('button')
    await site.arrived('page_view', '/hashes')
    await site.arrived('click', '/hashes')
    // Scripts loaded on first use are allowed, too.
    await page.evaluate(`footfall('identify', { hem: '${'a'.repeat(64)}' })`)
    // Not waitForFunction, which is eval in the page where it has to ask twice: the policy forbids that.
    await expect
      .poll(() => page.evaluate(`performance.getEntriesByType('resource').map(({ name }) => name)`))
      .toContainEqual(expect.stringMatching(/\/p\/identify\.js$/))
    expect(found).toEqual([])
  })
  site.serve('/changed', pinned.replace(integrity, `sha384-${'A'.repeat(64)}`))
  await site.visit('/changed', async (page) => {
    const found = blocked(page)
    await page.reload()
    await waitFor('the refusal', () => found.some((text) => text.includes('integrity')))
    expect(await page.evaluate('footfall.on')).toBeUndefined()
  })
})

test('content-security-policy/nonce.mjs: each answer its own nonce; the pixel and its parts run', async () => {
  const { server } = await imported('content-security-policy/nonce.mjs')
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  try {
    await site.visit(`http://127.0.0.1:${port}/nonce`, async (page) => {
      const found = blocked(page)
      const nonceOf = () => page.evaluate(`document.querySelector('script').nonce`)
      const first = await nonceOf()
      await page.reload()
      expect(await nonceOf()).not.toBe(first)
      await page.click('button')
      await site.arrived('page_view', '/nonce', 1)
      await site.arrived('click', '/nonce')
      await page.evaluate(`footfall('identify', { hem: '${'a'.repeat(64)}' })`)
      // The page forbids eval, which waiting within it needs.
      const isLoaded = `performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/p/identify.js'))`
      await waitFor(
        'the part that identifies',
        async () => (await page.evaluate(isLoaded)) === true,
      )
      expect(found).toEqual([])
    })
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

test('service-worker: a page that a worker answers sends as others do, and offline it keeps what happened', async () => {
  site.serve('/offline/', site.filledIn(site.read('service-worker/index.html')))
  site.serve('/offline/worker.js', site.read('service-worker/worker.js'))
  await site.visit('/offline/', async (page) => {
    await page.evaluate('navigator.serviceWorker.ready.then(() => {})')
    await site.arrived('page_view', '/offline/')
    await page.reload()
    await page.waitForFunction('navigator.serviceWorker.controller && footfall.on')
    await site.arrived('page_view', '/offline/', 2)
    await page.context().setOffline(true)
    await page.click('button')
    await page.waitForFunction(
      `Object.entries(localStorage).some(([key, text]) => key.startsWith('footfall_') && text.includes('click'))`,
    )
    await page.context().setOffline(false)
    await site.arrived('click', '/offline/')
  })
})

test('server-side/track.mjs: an event of the visitor whose request is answered; stored once; opted out, none', async () => {
  const { api_key, api_secret } = site.service.demo
  Object.assign(process.env, { FOOTFALL_API_KEY: api_key, FOOTFALL_API_SECRET: api_secret })
  const { track } = await imported('server-side/track.mjs')
  const eventId = crypto.randomUUID()
  const answers: unknown[] = []
  const backEnd = createServer(async (request, response) => {
    for (let tries = 0; tries < 2; tries++)
      answers.push(await track(request, 'paid', { order: '1001' }, { eventId }))
    response.end()
  }).listen(0, '127.0.0.1')
  await once(backEnd, 'listening')
  const url = `http://127.0.0.1:${(backEnd.address() as AddressInfo).port}/server-side`
  const cookieId = crypto.randomUUID()
  const ask = (cookie: string) => fetch(url, { headers: { cookie, 'user-agent': chrome } })
  try {
    await ask(`a=b; footfall_id=${cookieId}`)
    expect(answers).toEqual(
      Array(2).fill({ cookie_id: cookieId, accepted: 1, rejected: [], vouched: true }),
    )
    const [row] = await site.arrivedRows('custom', '/server-side')
    expect(row).toMatchObject({ event_id: eventId, cookie_id: cookieId, user_agent: chrome })
    expect(JSON.parse(row!.event_data as string)).toMatchObject({
      name: 'paid',
      properties: { order: '1001' },
    })
    await ask('footfall_id=out')
    expect(answers.slice(2)).toEqual([undefined, undefined])
  } finally {
    backEnd.close()
  }
})
