/** One service, one browser and one site, on whose pages examples are put as their users would have them. */
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { packageRoot } from '../../collector/platform/paths.ts'
import { chrome, readRows } from '../harness/api.ts'
import { leaveChromium, openChromium } from '../harness/chromium.ts'
import { ownDatabases } from '../harness/databases.ts'
import { type Service, startService, waitFor } from '../harness/service.ts'

/** The site's answer at a path; `headers` in addition to its type. */
interface Served {
  body: string
  headers?: Record<string, string>
}

/** With `hasSample` the demo has sample visitors. */
export function useSite({ hasSample = false } = {}) {
  let service: Service
  let browser: Browser
  let site: Server
  let siteUrl: string
  const served = new Map<string, Served>()

  beforeAll(async () => {
    site = createServer((request, response) => {
      const path = new URL(request.url!, 'http://site').pathname
      const type = path.endsWith('.js') ? 'text/javascript' : 'text/html; charset=utf-8'
      // Paths that are not there are the application's, as servers of such applications have it.
      const { body = '', headers = {} } = served.get(path) ?? served.get('/') ?? {}
      response.writeHead(200, { 'content-type': type, ...headers }).end(body)
    }).listen(0, '127.0.0.1')
    ;[service, browser] = await Promise.all([
      startService({
        env: { ...(await ownDatabases()), FOOTFALL_TRUSTED_PROXIES: '127.0.0.1' },
        hasSample,
      }),
      openChromium(),
    ])
    siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  })
  afterAll(async () => {
    await leaveChromium(browser)
    await service?.stop()
    site.close()
  })

  return {
    get service() {
      return service
    },
    get url() {
      return siteUrl
    },
    serve(path: string, body: string, headers?: Record<string, string>) {
      served.set(path, { body, ...(headers && { headers }) })
    },
    /** An example with a pixel's id and the collector's address filled in. */
    filledIn: (text: string) =>
      text
        .replaceAll('PIXEL_ID', service.demo.pixel_id)
        .replaceAll('http://127.0.0.1:8787', service.url)
        .replaceAll('https://collector.example', service.url),
    read: (name: string) => readFileSync(join(packageRoot, 'examples', name), 'utf8'),
    /** Opens a page in a fresh profile, without an error that nobody caught. */
    async visit<T>(path: string, work: (page: Page) => Promise<T>): Promise<T> {
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
    },
    /** Waits for rows of the page or pages whose URL has this in it, as the API returns them. */
    async arrivedRows(type: string, url: string, count = 1) {
      const filter = `event_type:eq:${type},event_data.url:like:%${url}%`
      return waitFor(`${count} ${type} events of ${url}`, async () => {
        const rows = await readRows(service, { filter, limit: '100' })
        return rows.length >= count ? rows : null
      })
    },
    /** The same, of each what its event_data holds. */
    async arrived(type: string, url: string, count = 1) {
      const rows = await this.arrivedRows(type, url, count)
      return rows.map(({ event_data }) => JSON.parse(event_data as string))
    },
  }
}
