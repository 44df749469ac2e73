/** The dashboard of one service in one real browser, for a test file. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'
import { leaveChromium, openChromium } from '../harness/chromium.ts'
import type { Answering } from '../harness/service.ts'
import { openTenant, type TenantSettings } from '../harness/sharedApp.ts'

/** Opens the dashboard of a new tenant. */
export function useDashboard(settings?: TenantSettings) {
  let service: Answering
  let env: Record<string, string>
  let browser: Browser
  /** Faults on any page: uncaught errors, and blocks by the content security policy. */
  const troubles: string[] = []

  beforeAll(async () => {
    ;({ service, env } = await openTenant(settings))
    browser = await openChromium()
  })

  afterAll(async () => {
    await leaveChromium(browser)
    await service?.stop()
    expect(troubles).toEqual([])
  })

  return {
    get service() {
      return service
    },
    /** Changes the service's PostgreSQL, as an operator does by the command line. */
    async postgres(sql: string, values: unknown[]): Promise<void> {
      const postgres = openPostgres(env.DATABASE_URL!, () => {})
      await postgres.query(sql, values)
      await postgres.end()
    },
    at: (path: string) => `${service.url}${path}`,
    /** A page in a browser profile of its own. */
    async open(options: BrowserContextOptions = {}): Promise<Page> {
      const context = await browser.newContext({
        viewport: { width: 1280, height: 900 },
        permissions: ['clipboard-read', 'clipboard-write'],
        ...options,
      })
      // Before the test's own timeout, so that the error names the condition.
      context.setDefaultTimeout(30_000)
      const page = await context.newPage()
      page.on('pageerror', (error) => troubles.push(error.message))
      page.on('console', (message) => {
        if (/Content.Security.Policy/i.test(message.text())) troubles.push(message.text())
      })
      return page
    },
    /** Signs in as the demo's owner, and waits for the projects. */
    async signIn(page: Page): Promise<void> {
      const { admin_email, admin_password } = service.demo
      await page.goto(service.url)
      await page.getByLabel('E-mail', { exact: true }).fill(admin_email)
      await page.getByLabel('Password', { exact: true }).fill(admin_password)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await entered(page)
      await page.goto(`${service.url}/${service.demo.organization_id}/projects`)
      await page.getByRole('heading', { name: 'Projects', level: 1 }).waitFor()
    },
  }
}

export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/** Waits until somebody is signed in, on whatever page that leads to. */
export const entered = (page: Page) => page.locator('.app > main h1').waitFor()

export const heading = (page: Page, name: string) =>
  page.getByRole('heading', { name, exact: true })

/** The last copied text. */
export const copied = (page: Page): Promise<string> =>
  page.evaluate('navigator.clipboard.readText()')

/** The text that has the focus. */
export const focused = (page: Page): Promise<string | null> =>
  page.evaluate('document.activeElement.textContent')

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The rules of axe-core that look at colours. */
const colorRules = ['color-contrast', 'link-in-text-block']
/** For pages of many thousand elements, whose colours are most of the work. */
export const withoutColors = {
  rules: Object.fromEntries(colorRules.map((rule) => [rule, { enabled: false }])),
}

/** What fades in or out has for a moment colours that nobody chose. */
const untilStill = `Promise.allSettled(document.getAnimations()
  .filter(({ effect }) => effect.getComputedTiming().endTime !== Infinity)
  .map(({ finished }) => finished))`

/** What axe-core finds against WCAG 2.2 AA and its best practices; by some of its rules, where `which` says so. */
export async function violations(page: Page, which: object = {}): Promise<string[]> {
  await page.evaluate(untilStill)
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe)
  const options = { resultTypes: ['violations'], ...which }
  const found =
    await page.evaluate(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
    violations.flatMap(({ id, help, nodes }) => nodes.map(({ html }) => id + ': ' + help + ': ' + html)))`)
  return found as string[]
}

/** Elements wider than the screen, or than their card or dialog, that do not scroll themselves. */
export const sticksOut = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('main *')]
    .filter((element) => {
      // What is wider than its frame there is scrolled.
      if (element.closest('.visually-hidden') || element.parentElement.closest('.table-wide, .scroll')) return false
      const around = element.parentElement.closest('dialog, .card, .rows > li, .empty, .copyable, body')
      return element.getBoundingClientRect().right > around.getBoundingClientRect().right + 1
    })
    .map(({ outerHTML }) => outerHTML)`)

/**
 * Shows the page light on a wide screen and dark on a phone: axe-core finds nothing, nothing sticks out. Colours depend
 * on the scheme and the rest on the width, so two looks show all four.
 */
export async function expectAccessible(page: Page, name: string): Promise<void> {
  const before = page.viewportSize()!
  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 360],
  ] as const) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 800 })
    const look = `${name}, ${colorScheme}, ${width} px wide`
    // What draws by hand follows a moment after the screen.
    await expect.poll(() => sticksOut(page), { message: look }).toEqual([])
    expect(await violations(page), look).toEqual([])
  }
  await page.emulateMedia({ colorScheme: null })
  await page.setViewportSize(before)
}

/** What Tab does not reach, from the top of a page to its end, and what has the focus without being seen to have it. */
export async function tabTrouble(page: Page): Promise<string[]> {
  await page.evaluate(`{
    const all = 'a[href], button, input, select, textarea, summary, [tabindex="0"]'
    window.wanted = [...document.querySelectorAll(all)].filter((element) =>
      element.tabIndex >= 0 && !element.disabled && !element.closest('fieldset:disabled') &&
      element.checkVisibility({ visibilityProperty: true }))
    window.reached = new Set()
    window.unseen = []
    document.activeElement.blur()
  }`)
  // A field of a date is several stops.
  const presses = (await page.evaluate('window.wanted.length + 20')) as number
  for (let pressed = 0; pressed < presses; pressed++) {
    await page.keyboard.press('Tab')
    const isThrough = await page.evaluate(`(() => {
      const element = document.activeElement
      if (element === document.body) return true
      if (window.reached.has(element)) return false
      const { outlineStyle, outlineWidth } = getComputedStyle(element)
      const { width, height, top, bottom } = element.getBoundingClientRect()
      const isSeen = outlineStyle !== 'none' && parseFloat(outlineWidth) > 0 &&
        width > 0 && height > 0 && bottom > 0 && top < innerHeight
      if (!isSeen) window.unseen.push('not seen: ' + element.outerHTML.slice(0, 200))
      window.reached.add(element)
      return window.wanted.every((wanted) => window.reached.has(wanted))
    })()`)
    if (isThrough) break
  }
  return page.evaluate(`[
    ...window.wanted.filter((element) => element.isConnected && !window.reached.has(element))
      .map(({ outerHTML }) => 'not reached: ' + outerHTML.slice(0, 200)),
    ...window.unseen,
  ]`)
}

/** Where SCREENSHOTS names a directory, what a page looks like is kept there, light, dark and on a phone, to be looked at. */
export async function keepScreenshots(page: Page, name: string): Promise<void> {
  const directory = process.env.SCREENSHOTS
  if (!directory) return
  const before = page.viewportSize()!
  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 1280],
    ['light', 360],
  ] as const) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 900 })
    await page.screenshot({ path: `${directory}/${name}-${colorScheme}-${width}.png` })
  }
  await page.emulateMedia({ colorScheme: null })
  await page.setViewportSize(before)
}
