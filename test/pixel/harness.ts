/** One browser for a test file; a fresh profile and receiver for each test. */
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, vi } from 'vitest'
import { snippet } from '../../pixel/stub.mjs'
import { defaultPixelSettings, type PixelSettings } from '../../schemas/beacon.ts'
import { leaveChromium, openChromium } from '../harness/chromium.ts'
import { pixelId, startReceiver } from './receiver.ts'

const flags = [
  '--autoplay-policy=no-user-gesture-required',
  // Names of a customer's site and of its sub-domains, all of them here.
  '--host-resolver-rules=MAP *.example.test 127.0.0.1',
]

export interface Visit {
  /** HTML of the body. */
  body?: string
  /** HTML before the snippet. */
  head?: string
  path?: string
  settings?: Partial<PixelSettings>
  /** Where the browser goes; the path when not given. */
  url?: string
  /** Of the page; localhost when not given. */
  origin?: string
}

export function usePixel() {
  let browser: Browser
  let context: BrowserContext
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  let page: Page
  /** Errors on the page that nobody caught. */
  let errors: string[]

  beforeAll(async () => {
    browser = await openChromium({
      args: flags,
      // Playwright turns this cache off; a visitor's browser has it.
      ignoreDefaultArgs: ['--disable-back-forward-cache'],
    })
  }, 60_000)

  beforeEach(async () => {
    // One for each test, because requests of a closing page must not reach the next one.
    receiver = await startReceiver()
    context = await browser.newContext({ viewport: { width: 1000, height: 800 } })
    page = await context.newPage()
    errors = []
    page.on('pageerror', (error) => errors.push(error.message))
  })

  afterEach(async () => {
    await context.close()
    expect(errors).toEqual([])
    expect(receiver.state.invalid).toEqual([])
    await receiver.close()
  })

  afterAll(async () => {
    await leaveChromium(browser)
  })

  const put = ({ body = '', head = '', path = '/page', settings = {} }: Visit) => {
    receiver.state.settings = { ...defaultPixelSettings, ...settings }
    const pixel = snippet(`${receiver.collectorOrigin}/p/${pixelId}.js`)
    receiver.state.pages.set(
      path,
      `<!doctype html><html><head><title>A page</title>${head}${pixel}</head><body>${body}</body></html>`,
    )
  }

  return {
    get page() {
      return page
    },
    get context() {
      return context
    },
    get receiver() {
      return receiver
    },
    put,
    async visit(visit: Visit = {}) {
      put(visit)
      await page.goto(`${visit.origin ?? receiver.pageOrigin}${visit.url ?? visit.path ?? '/page'}`)
    },
    /** Waits until the receiver has this many events of the type, and answers them. */
    async events<T extends Parameters<typeof receiver.events>[0]>(type: T, count: number) {
      await vi.waitFor(
        () => {
          expect(receiver.events(type).length).toBeGreaterThanOrEqual(count)
        },
        { timeout: 30_000, interval: 20 },
      )
      const events = receiver.events(type as NonNullable<T>)
      expect(events).toHaveLength(count)
      return events.map(({ event_data }) => event_data as Record<string, unknown> & { url: string })
    },
    /** Sends a last custom event and waits for it: whatever was to be sent before it has arrived. */
    async settled(name = 'settled') {
      await page.evaluate(`footfall('track', ${JSON.stringify(name)}); footfall('flush')`)
      await vi.waitFor(
        () => {
          const names = receiver.events('custom').map(({ event_data }) => event_data.name)
          expect(names).toContain(name)
        },
        { timeout: 30_000, interval: 20 },
      )
    },
    /** As browsers do when the visitor looks at another tab. */
    async hide() {
      await page.evaluate(`
        Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true })
        Object.defineProperty(document, 'hidden', { value: true, configurable: true })
        document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)
    },
  }
}

/** Waits until the code for copies, videos and scrolling has come, which the first of them loads. */
export async function loadCapture(page: Page): Promise<void> {
  await page.waitForFunction('window.footfall?.on')
  await page.evaluate(`document.body.dispatchEvent(new Event('copy'))`)
  await page.waitForFunction(
    `performance.getEntriesByType('resource').some(({ name }) => /capture/.test(name))`,
  )
  await page.waitForTimeout(300)
}
