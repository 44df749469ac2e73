import { startBrowser } from './browser.ts'
import { explain, type Finding } from './explain.ts'
import { observe } from './observe.ts'

/**
 * Runs `npx footfall-server check URL`: loads the page in a headless browser and reports whether the pixel works
 * there. Throws StartError without a browser.
 */
export async function checkSite(
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
