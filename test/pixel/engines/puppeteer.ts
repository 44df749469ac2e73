import { setTimeout as delay } from 'node:timers/promises'
import puppeteer, { type Browser, type Dialog, type LaunchOptions, type Page } from 'puppeteer-core'
import { puppeteerFlags } from '../../harness/chromium.ts'
import { waitFor } from '../../harness/service.ts'
import { type Engine, findExecutable, type Tab } from './engine.ts'

// Not Playwright: it turns prerendering off, and its tabs are never hidden.

export const startChromium = async (): Promise<Engine> =>
  engineOf(
    'chromium',
    await puppeteer.launch({
      ...quiet,
      executablePath: findExecutable('Chromium', [
        process.env.CHROMIUM_PATH,
        '/usr/bin/chromium',
        '/usr/bin/google-chrome',
      ]),
      args: [...puppeteerFlags, '--autoplay-policy=no-user-gesture-required'],
    }),
  )

/** Firefox speaks WebDriver BiDi by itself. */
export async function startFirefox(): Promise<Engine> {
  const launch = (preferences: Record<string, unknown>) =>
    puppeteer.launch({
      ...quiet,
      browser: 'firefox',
      executablePath: findExecutable('Firefox', ['/usr/bin/firefox-esr', '/usr/bin/firefox']),
      extraPrefsFirefox: { 'media.autoplay.default': 0, ...preferences },
      // For closeAsVisitor.
      args: ['-remote-allow-system-access'],
    })
  const browser = await launch({})
  let privateBrowser: Promise<Browser> | undefined
  return {
    ...engineOf('firefox', browser, closeAsVisitor),
    async newPrivateTab() {
      privateBrowser ??= launch({ 'privacy.globalprivacycontrol.enabled': true })
      return newTab(await privateBrowser, closeAsVisitor)
    },
    async stop() {
      await browser.close()
      await (await privateBrowser)?.close()
    },
  }
}

const detachedTriesMost = 200
const detachedPauseMs = 25
const isDetached = (error: unknown): boolean => /detached frame/i.test((error as Error).message)

const quiet: LaunchOptions = { headless: true, defaultViewport: { width: 1000, height: 800 } }

/** Closes the tab in front. */
type CloseTab = (page: Page) => Promise<void>

const engineOf = (
  name: Engine['name'],
  browser: Browser,
  closeTab: CloseTab = (page) => page.close(),
): Engine => ({
  name,
  newTab: () => newTab(browser, closeTab),
  stop: () => browser.close(),
})

/**
 * Runs the command of Ctrl+W. Firefox lets a tab that its visitor closes fade out. WebDriver closes it at
 * once, and loses requests that its page sends more than a millisecond after it was hidden.
 */
const closeAsVisitor: CloseTab = async (page) => {
  // Puppeteer's own connection: its interface does not reach the browser's windows.
  const { connection } = page.browser() as unknown as { connection: Bidi }
  const tree = await connection.send('browsingContext.getTree', { 'moz:scope': 'chrome' })
  await connection.send('script.evaluate', {
    expression: `document.getElementById('cmd_close').doCommand()`,
    target: { context: tree.result.contexts[0]!.context },
    awaitPromise: true,
  })
}

interface Bidi {
  send(method: string, parameters: object): Promise<{ result: { contexts: { context: string }[] } }>
}

async function newTab(browser: Browser, closeTab: CloseTab): Promise<Tab> {
  const context = await browser.createBrowserContext()
  const firstPage = await context.newPage()
  let dialog: Dialog | undefined
  firstPage.on('dialog', (opened) => {
    dialog = opened
  })
  let cover: Page | undefined
  // A prerendered page replaces the one that prepared it.
  const page = async () => {
    const isHere = (candidate: Page) => !candidate.isClosed() && !candidate.mainFrame().detached
    if (isHere(firstPage)) return firstPage
    const other = (await context.pages()).find(
      (candidate) => candidate !== cover && isHere(candidate),
    )
    if (!other) throw new Error('the tab is closed')
    return other
  }
  return {
    goto: async (url) => {
      await (await page()).goto(url)
    },
    async evaluate<T>(code: string) {
      // While a prerendered page replaces it, a page has no frame for a moment: nothing ran then.
      for (let tried = 1; ; tried++) {
        try {
          return (await (await page()).evaluate(code)) as T
        } catch (error) {
          if (!isDetached(error) || tried === detachedTriesMost) throw error
          await delay(detachedPauseMs)
        }
      }
    },
    async click(selector, count = 1, betweenMs = 0) {
      const clicked = await page()
      try {
        if (betweenMs === 0) return await clicked.click(selector, { count })
        await clicked.click(selector)
        for (let clickCount = 2; clickCount <= count; clickCount++) {
          await delay(betweenMs)
          await clicked.mouse.down({ clickCount })
          await clicked.mouse.up({ clickCount })
        }
      } catch (error) {
        // The click took its own page away.
        if (!isDetached(error)) throw error
      }
    },
    async clickHolding(key, selector) {
      const { keyboard } = await page()
      await keyboard.down(key)
      await (await page()).click(selector)
      await keyboard.up(key)
    },
    async closeDialog() {
      await waitFor('a dialog', () => dialog !== undefined)
      await dialog!.accept()
    },
    type: async (text) => (await page()).keyboard.type(text),
    async press(shortcut) {
      const { keyboard } = await page()
      if (shortcut !== 'Control+C') return keyboard.press(shortcut)
      await keyboard.down('Control')
      await keyboard.press('c')
      await keyboard.up('Control')
    },
    async hide() {
      cover ??= await context.newPage()
      await cover.bringToFront()
    },
    show: async () => (await page()).bringToFront(),
    close: async () => closeTab(await page()),
    dispose: () => context.close(),
  }
}
