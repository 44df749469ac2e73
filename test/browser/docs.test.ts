/** The documentation at /docs: guides and API reference, for everybody, on every screen, and pages that do not exist. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Document, publicOperations } from '../../collector/api/openapi/document.ts'
import { slug } from '../../collector/dashboard/docsSite/page.ts'
import { packageRoot } from '../../collector/platform/paths.ts'
import { leaveChromium, openChromium } from '../harness/chromium.ts'
import { type Answering, waitFor } from '../harness/service.ts'
import { openTenant } from '../harness/sharedApp.ts'
import { copied, tabTrouble, violations, withoutColors } from './dashboard.ts'

let service: Answering
let browser: Browser
beforeAll(async () => {
  service = (await openTenant()).service
  browser = await openChromium()
})
afterAll(async () => {
  await leaveChromium(browser)
  await service?.stop()
})

const guides = readdirSync(join(packageRoot, 'collector/docs')).map((name) => name.slice(0, -3))

/** axe-core is put into pages by a script that their policy would block. */
const onPage = async (look: (page: Page) => Promise<void>, bypassCSP = true) => {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    permissions: ['clipboard-read', 'clipboard-write'],
    bypassCSP,
  })
  try {
    await look(await context.newPage())
  } finally {
    await context.close()
  }
}

/** All pages that links below /docs reach from its home page, with their documents. */
async function crawl(): Promise<Map<string, string>> {
  const pages = new Map<string, string>()
  const waiting = ['/docs']
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (pages.has(path)) continue
    const answer = await fetch(service.url + path)
    const text = await answer.text()
    expect([path, answer.status]).toEqual([path, 200])
    // The build's placeholders of addresses.
    expect([path, text.includes('footfall.invalid')]).toEqual([path, false])
    pages.set(path, text)
    waiting.push(
      ...linksOf(text, path)
        .filter(({ pathname }) => pathname.startsWith('/docs'))
        .map(({ pathname }) => pathname),
    )
  }
  return pages
}

/** The links of a document to this service. */
const linksOf = (text: string, path: string): URL[] =>
  [...text.matchAll(/<a [^>]*?href="([^"]+)"/g)]
    .map(([, href]) => new URL(href!.replaceAll('&amp;', '&'), service.url + path))
    .filter(({ href }) => href.startsWith(`${service.url}/`))

const anchorsOf = (text: string): Set<string> =>
  new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!))

test('every link leads to a page and an anchor, and no page has more than 150 KB', async () => {
  const pages = await crawl()
  const paths = [...pages.keys()]
  expect(paths.filter((path) => path.startsWith('/docs/reference/')).length).toBeGreaterThan(15)
  for (const guide of guides) expect(paths).toContain(`/docs/${guide}`)
  const broken: string[] = []
  for (const [path, text] of pages) {
    expect([path, Buffer.byteLength(text) < 150_000]).toEqual([path, true])
    for (const { pathname, hash } of linksOf(text, path)) {
      const target = pages.get(pathname)
      if (hash && target && !anchorsOf(target).has(hash.slice(1))) broken.push(`${path}: ${hash}`)
    }
  }
  expect(broken).toEqual([])
}, 60_000)

test.each(['/docs', '/docs/tracking', '/docs/operations', '/docs/reference/pixels'])(
  '%s, light and dark, 1280 and 390 px wide: axe-core finds nothing, nothing sticks out',
  async (path) => {
    await onPage(async (page) => {
      await page.goto(service.url + path)
      await page.locator('.copy, .card').first().waitFor()
      await page.evaluate(
        `for (const answer of document.querySelectorAll('details')) answer.open = true`,
      )
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        for (const width of [1280, 390]) {
          await page.setViewportSize({ width, height: 844 })
          const look = `${path}, ${colorScheme}, ${width} px wide`
          expect(await widerThanScreen(page), look).toEqual([])
          expect(await violations(page), look).toEqual([])
        }
      }
      // On a phone the navigation is a popover.
      await page.getByRole('button', { name: 'Menu' }).click()
      await page.getByRole('navigation', { name: 'Documentation' }).waitFor()
      expect(await violations(page), `${path}, menu`).toEqual([])
    })
  },
  300_000,
)

/** Elements beyond the right edge that no container of theirs scrolls. */
const widerThanScreen = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('body *')]
    .filter((element) => !element.closest('.table > *, pre > *, .visually-hidden, .skip') &&
      element.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
    .map(({ outerHTML }) => outerHTML.slice(0, 200))`)

test.each(['/docs', '/docs/api', '/docs/reference/audiences'])(
  '%s is painted within a second, without a word to anybody else and without a blocked source',
  async (path) => {
    await onPage(async (page) => {
      const asked: string[] = []
      const problems: string[] = []
      page.on('request', (request) => asked.push(request.url()))
      page.on('console', (message) => problems.push(message.text()))
      page.on('pageerror', ({ message }) => problems.push(message))
      // On a machine that other tests keep busy one try says little.
      let shownMs = Number.POSITIVE_INFINITY
      for (let tried = 0; tried < 5 && shownMs >= 1_000; tried++) {
        await page.goto(service.url + path)
        shownMs = await waitFor('the first paint', () =>
          page.evaluate<number>(
            "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0",
          ),
        )
      }
      expect(shownMs).toBeLessThan(1_000)
      await search(page, 'consent').first().waitFor()
      expect(asked.filter((url) => !url.startsWith(`${service.url}/`))).toEqual([])
      expect(problems).toEqual([])
    }, false)
  },
)

/** Types into the search and returns its results. */
function search(page: Page, query: string) {
  const field = page.getByRole('combobox', { name: 'Search the documentation' })
  field.fill(query).catch(() => {})
  return page.getByRole('option')
}

test('the search is loaded when it has the focus, and leads to a heading of a guide and to an operation', async () => {
  await onPage(async (page) => {
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await page.goto(`${service.url}/docs`, { waitUntil: 'networkidle' })
    expect(asked).not.toContain('/docs/search.json')
    await page.keyboard.press('Control+k')
    await page.keyboard.type('ignored traffic')
    const heading = page.getByRole('option', { name: 'Ignored traffic' }).first()
    await heading.waitFor()
    expect(asked).toContain('/docs/search.json')
    expect(await violations(page, withoutColors)).toEqual([])
    await page.keyboard.press('Enter')
    await page.waitForURL(`${service.url}/docs/tracking#ignored-traffic`)

    await page.keyboard.press('Control+k')
    await page.keyboard.type('createIntegration')
    await page.getByRole('option').first().waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(`${service.url}/docs/reference/integrations#post-api-v1-integrations`)

    await page.keyboard.press('Control+k')
    await page.keyboard.type('zzzzqqqq')
    await page.getByText('No results.').waitFor({ state: 'attached' })
  })
})

test('a button copies the code of its block', async () => {
  await onPage(async (page) => {
    await page.goto(`${service.url}/docs/tracking`)
    await page.getByRole('button', { name: 'Copy' }).first().click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const code = await page.locator('figure.code code').first().textContent()
    expect(await copied(page)).toBe(code)
    expect(code).toContain(`${service.url}/p/PIXEL_ID.js`)
  })
})

test('without its script a page has navigation, contents and code, and no search', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false })
  try {
    const page = await context.newPage()
    await page.goto(`${service.url}/docs`)
    await page.getByRole('navigation').getByRole('link', { name: 'Operations' }).click()
    await page.getByRole('heading', { name: 'Operations', level: 1 }).waitFor()
    await page.getByRole('link', { name: 'Backup', exact: true }).click()
    expect(new URL(page.url()).hash).toBe('#backup')
    expect(await page.getByRole('combobox').isVisible()).toBe(false)
  } finally {
    await context.close()
  }
})

test('the keyboard reaches everything, and the content at once by the skip link', async () => {
  await onPage(async (page) => {
    await page.goto(`${service.url}/docs/glossary`)
    expect(await tabTrouble(page)).toEqual([])
    await page.reload()
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.id')).toBe('content')
  })
})

test('the reference has all public operations and nothing internal, with examples that were answered', async () => {
  const pages = await crawl()
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as Document
  const reference = [...pages].filter(([path]) => path.startsWith('/docs/reference/'))
  const shown = new Set(reference.flatMap(([, text]) => [...anchorsOf(text)]))
  const operations = [...publicOperations(document).keys()]
  expect(operations.length).toBeGreaterThan(70)
  expect(operations.filter((name) => !shown.has(slug(name)))).toEqual([])
  expect(
    [...shown].filter((id) => /^(get|post|put|delete)-(dashboard|demo|docs)/.test(id)),
  ).toEqual([])
  await onPage(async (page) => {
    await page.goto(`${service.url}/docs/reference/events`)
    const first = page.locator('article', { hasText: '/api/v3/events/web_event' }).first()
    const [request, response] = await first.locator('figure code').allTextContents()
    expect(request).toContain(`curl '${service.url}/api/v3/events/web_event?`)
    expect(JSON.parse(response!).rows[0]).toHaveProperty('event_data')
  })
})

test('an unknown page of the documentation is 404, with the navigation', async () => {
  const answer = await fetch(`${service.url}/docs/nothing`)
  expect([answer.status, await answer.text()]).toEqual([
    404,
    expect.stringContaining('This page does not exist.'),
  ])
})

describe('an unknown address of the dashboard', () => {
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

  test.each(['/nothing', '/nothing/at/all', '/dashboard/nothing'])(
    '%s is a page for browsers, JSON for programs',
    async (path) => {
      const page = await fetch(service.url + path, { headers: { accept } })
      expect([page.status, page.headers.get('content-type')]).toEqual([
        404,
        'text/html; charset=utf-8',
      ])
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
      const problem = await fetch(service.url + path)
      expect([problem.status, await problem.json()]).toMatchObject([404, { error: 'not_found' }])
    },
  )

  test('of the API is JSON for everybody', async () => {
    const { status, headers } = await fetch(`${service.url}/api/v1/nothing`, {
      headers: { accept },
    })
    expect([status, headers.get('content-type')]).toEqual([404, 'application/json; charset=utf-8'])
  })

  test('tells somebody who is signed in that there is nothing', async () => {
    await onPage(async (page) => {
      await page.goto(`${service.url}/sign-in`)
      await page.getByLabel('E-mail', { exact: true }).fill(service.demo.admin_email)
      await page.getByLabel('Password', { exact: true }).fill(service.demo.admin_password)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.getByRole('navigation', { name: 'Dashboard' }).waitFor()
      await page.goto(`${service.url}/nothing`)
      await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    })
  })
})

test('/favicon.ico is an icon', async () => {
  const { status, headers } = await fetch(`${service.url}/favicon.ico`)
  expect([status, headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
})
