/** Segment's analytics.js, as npm has it, sends from a page to Footfall. */
import { createReadStream } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hemOf } from '../../collector/platform/hem.ts'
import { type Accounts, openAccounts } from '../api/accounts/harness.ts'
import { chrome, type Row } from '../harness/api.ts'
import { leaveChromium, openChromium } from '../harness/chromium.ts'
import { waitFor } from '../harness/service.ts'

const library = join(
  dirname(fileURLToPath(import.meta.resolve('@segment/analytics-next'))),
  '../umd',
)

let it: Accounts
let browser: Browser
beforeAll(async () => {
  it = await openAccounts()
  browser = await openChromium()
})
afterAll(async () => {
  await leaveChromium(browser)
  await it?.close()
})

/** A site whose page loads the library from its own server and makes all calls. */
async function openSite(writeKey: string, deliveryStrategy: object) {
  const apiHost = `${new URL(it.url).host}/v1`
  const settings = { apiKey: writeKey, apiHost, protocol: 'http', deliveryStrategy }
  const cdnSettings = { integrations: { 'Segment.io': settings } }
  const html = `<!doctype html><title>Shop</title><script src="/index.js"></script><script>
    const analytics = AnalyticsNext.AnalyticsBrowser.load(${JSON.stringify({ writeKey, cdnSettings })})
    analytics.page('Basket', { plan: 'pro' })
    analytics.identify('u1', { email: 'Ann@example.com' })
    analytics.track('Order Completed', { total: 42.5 })
    analytics.group('g', { plan: 'pro' })
    analytics.screen('Cart', { items: 3 })
    analytics.alias('u1', 'u0')
  </script>`
  const site = createServer((request, response) => {
    const { pathname } = new URL(request.url!, 'http://x')
    if (!pathname.endsWith('.js')) response.setHeader('content-type', 'text/html').end(html)
    else {
      response.setHeader('content-type', 'text/javascript')
      createReadStream(join(library, basename(pathname)))
        .on('error', () => response.writeHead(404).end())
        .pipe(response)
    }
  })
  await new Promise<void>((listening) => site.listen(0, '127.0.0.1', listening))
  return {
    site,
    url: `http://127.0.0.1:${(site.address() as AddressInfo).port}/?utm_source=letter`,
  }
}

test.each([
  ['one by one', {}],
  ['in batches', { strategy: 'batching', config: { size: 6, timeout: 500 } }],
])('every call of analytics.js arrives, sent %s', async (_how, deliveryStrategy) => {
  const pixelId = await it.makePixel(it.demo.project_id)
  await waitFor('the pixel', async () => {
    const body = JSON.stringify({ writeKey: pixelId, event: 'x', anonymousId: pixelId })
    const headers = { 'content-type': 'text/plain' }
    return (await fetch(`${it.url}/v1/t`, { method: 'POST', headers, body })).ok
  })
  const { site, url } = await openSite(pixelId, deliveryStrategy)
  const context = await browser.newContext({ userAgent: chrome, locale: 'fr-CA' })
  try {
    const page = await context.newPage()
    const sent: number[] = []
    page.on('response', (answer) => {
      if (answer.url().startsWith(`${it.url}/v1/`)) sent.push(answer.status())
    })
    await page.goto(url)
    const visitor = await page.waitForFunction(() =>
      localStorage.getItem('ajs_anonymous_id')?.replaceAll('"', ''),
    )
    const cookieId = (await visitor.jsonValue()) as string
    const rows: Row[] = await waitFor('the events', async () => {
      const { rows } = await it.done(
        it.key,
        `GET /api/v3/events/resolution_hem?pixel_id=${pixelId}&filter=cookie_id:eq:${cookieId}`,
      )
      return rows.length >= 4 && rows.every((row: Row) => row.resolved) && rows
    })
    expect(new Set(sent)).toEqual(new Set([200]))
    const named = Object.fromEntries(
      rows.map((row) => {
        const data = JSON.parse(row.event_data as string)
        return [data.name ?? row.event_type, { row, data }]
      }),
    )
    expect(Object.keys(named).sort()).toEqual(['Order Completed', 'group', 'page_view', 'screen'])
    expect(named.page_view!.row).toMatchObject({
      hem: hemOf('ann@example.com'),
      page_url: url,
      utm_source: 'letter',
      language: 'fr-CA',
      user_agent: chrome,
      is_bot: false,
    })
    expect(named.page_view!.data).toMatchObject({
      title: 'Shop',
      properties: { name: 'Basket', plan: 'pro' },
      library: { name: 'analytics.js' },
    })
    expect(named['Order Completed']!.data.properties).toEqual({ total: 42.5 })
  } finally {
    await context.close()
    site.close()
  }
})
