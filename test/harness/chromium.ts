import { existsSync } from 'node:fs'
import { type Browser, chromium, type LaunchOptions } from 'playwright-core'

const executablePath = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium',
  '/usr/bin/google-chrome',
].find((path) => path && existsSync(path))

/** Two pages of the address bar that nobody sees: each context would load both, for twice what all its tests take. */
const addressBar = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup']

/** Turned off by Playwright itself, whose list ours replaces. */
const disabledFeatures = [
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
]

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-blink-features=AutomationControlled',
]

/** For Puppeteer, which adds what it turns off itself. */
export const puppeteerFlags = [...flags, `--disable-features=${addressBar}`]

const playwrightFlags = [...flags, `--disable-features=${[...disabledFeatures, ...addressBar]}`]

const running = new Map<string, Promise<Browser>>()

/**
 * A real Chromium that keeps to itself. The files that one process runs take turns with it, each in contexts of its own,
 * which are profiles; it ends with the process.
 */
export function openChromium({ args = [], ...options }: LaunchOptions = {}): Promise<Browser> {
  const kind = JSON.stringify({ args, ...options })
  const browser =
    running.get(kind) ??
    chromium.launch({
      ...(executablePath && { executablePath }),
      args: [...playwrightFlags, ...args],
      ...options,
    })
  running.set(kind, browser)
  return browser
}

/** Cleanup at the end of a file. */
export const leaveChromium = async (browser: Browser | undefined): Promise<void> => {
  for (const context of browser?.contexts() ?? []) await context.close()
}
