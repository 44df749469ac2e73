import { startBrowser } from './browser.ts'
import { explain, type Finding } from './explain.ts'
import { observe } from './observe.ts'

/**
 * `npx footfall check URL`: loads the page in a headless browser and says whether the pixel is installed, what it
 * sent and what stopped it. Ok when every finding is. Throws StartError where there is no browser.
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
