import { existsSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { StartError } from '../../platform/startError.ts'
import { explain, type Finding } from './explain.ts'
import { observe } from './observe.ts'

/** Prints the findings of `footfall-server check URL`, and returns whether the pixel works. */
export async function check(given: string, chromiumPath: string | null): Promise<boolean> {
  const url = /^https?:\/\//.test(given) ? given : `https://${given}`
  if (!URL.canParse(url)) throw new StartError(`"${given}" is not an address`)
  console.error(`Loading ${url}, then watching it for a few seconds…`)
  const { ok, findings } = await checkSite(url, chromiumPath)
  for (const { ok, text } of findings) console.log(`${ok ? '✓' : '✗'} ${text}`)
  return ok
}

/**
 * Runs `npx footfall-server check URL`: loads the page in a headless browser and reports whether the pixel works
 * there. Throws StartError without a browser.
 */
async function checkSite(
  url: string,
  chromiumPath: string | null,
): Promise<{ ok: boolean; findings: Finding[] }> {
  const browser = await startBrowser(chromiumPath)
  try {
    const findings = explain(await observe(browser, url))
    return { ok: findings.every(({ ok }) => ok), findings }
  } finally {
    await browser.close()
  }
}

const systemPaths = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/**
 * Starts a headless Chromium: `chromiumPath` if given, otherwise the system's, otherwise the one that
 * Playwright downloaded. Throws StartError without one, with a hint how to install it.
 */
export async function startBrowser(chromiumPath: string | null): Promise<Browser> {
  const { chromium } = await import('playwright-core').catch(() => {
    throw new StartError(
      'playwright-core, which loads the pages, is not installed: npm install --no-save playwright-core',
    )
  })
  const places =
    chromiumPath === null ? [...systemPaths, chromium.executablePath()] : [chromiumPath]
  const executablePath = places.find((path) => existsSync(path))
  if (!executablePath) {
    throw new StartError(
      chromiumPath === null
        ? 'no Chromium found: install it with "apt-get install chromium" or "npx playwright-core install chromium", or set CHROMIUM_PATH'
        : `CHROMIUM_PATH: ${chromiumPath} does not exist. Set the path of Chromium, or remove the setting`,
    )
  }
  // Chromium refuses to run sandboxed as root.
  return chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0 })
}
