import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { build } from 'esbuild'
import { type Browser, chromium } from 'playwright-core'
import { readScripts } from '../../collector/ingest/script/pixelScript.ts'
import { packageRoot } from '../../collector/platform/paths.ts'
import { defaultPixelSettings } from '../../schemas/beacon.ts'
import { chrome } from '../harness/api.ts'
import type { Bench, Row } from './rows.ts'
import { median } from './stats.ts'
import { traced } from './tracing.ts'

const pixelId = '0b5f3c7e-9d2a-4c1b-8e6f-1a2b3c4d5e6f'

/** How a site sets each of them up to capture what it can by itself. They send to the page's own server. */
const setups = {
  plausible: `
    import { init } from '@plausible-analytics/tracker'
    init({ domain: 'bench', endpoint: '/collect', captureOnLocalhost: true, logging: false,
      outboundLinks: true, fileDownloads: true, formSubmissions: true })`,
  snowplow: `
    import { enableActivityTracking, newTracker, trackPageView } from '@snowplow/browser-tracker'
    import { ButtonClickTrackingPlugin, enableButtonClickTracking } from '@snowplow/browser-plugin-button-click-tracking'
    import { FormTrackingPlugin, enableFormTracking } from '@snowplow/browser-plugin-form-tracking'
    import { LinkClickTrackingPlugin, enableLinkClickTracking } from '@snowplow/browser-plugin-link-click-tracking'
    newTracker('sp', location.origin, {
      plugins: [ButtonClickTrackingPlugin(), FormTrackingPlugin(), LinkClickTrackingPlugin()] })
    enableActivityTracking({ minimumVisitLength: 10, heartbeatDelay: 10 })
    enableButtonClickTracking()
    enableFormTracking()
    enableLinkClickTracking()
    trackPageView()`,
  openpanel: `
    import { OpenPanel } from '@openpanel/web'
    new OpenPanel({ apiUrl: location.origin + '/collect', clientId: 'bench',
      trackScreenViews: true, trackOutgoingLinks: true, trackAttributes: true })`,
  posthog: `
    import posthog from 'posthog-js'
    posthog.init('phc_bench', { api_host: location.origin, defaults: '2025-11-30' })`,
}

/** Scripts by the name of what tracks; `footfall` among them. */
type Scripts = Record<string, string>
/** A page without any. */
const none = 'none'

/** What one visit of a page cost; times in milliseconds of the main thread, at a CPU slowed four times. */
interface Visit {
  startUp: number
  /** Forced by scripts until the page was quiet. */
  layouts: number
  /** All that a click led to, its sending included. */
  click: number
  /** Of one scroll of a page that changed before. */
  scroll: number
  /** Forced by scripts while the page scrolled, of one scroll. */
  scrollLayouts: number
  /** Without the page itself; the script is one of them. */
  requests: number
}

const cpuSlowdown = 4
/** How long a page is left alone before its start-up is read: longer than any of them waits to send. */
const quietMs = 2500
/** The effects of a click end within this time. */
const afterClickMs = 1500
/** For one trace; costs are divided by this. */
const scrolls = 20
/** Fewer say nothing about milliseconds. */
const loadsLeast = 20

/**
 * A page without a tracker, with Footfall, with others from the npm registry and with given files, visited in
 * turn and traced.
 */
export async function trackersSideBySide({ repeats, beside, log }: Bench): Promise<Row[]> {
  const scripts = await buildScripts(beside)
  const trackers = Object.keys(scripts)
  const variants = [none, ...trackers]
  const server = await serve(scripts)
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-blink-features=AutomationControlled'],
  })
  const visits = Object.fromEntries(variants.map((variant) => [variant, [] as Visit[]]))
  try {
    for (let load = 0; load < Math.max(repeats, loadsLeast); load++) {
      log(`  load ${load + 1}`)
      for (const variant of variants) visits[variant]!.push(await visit(browser, server, variant))
    }
  } finally {
    await browser.close()
    server.close()
  }
  /** Median over the page without a tracker, load by load. */
  const over = (tracker: string, measure: keyof Visit) =>
    median(visits[tracker]!.map((visit, load) => visit[measure] - visits[none]![load]![measure]))
  const row = (
    what: string,
    unit: string,
    target: string,
    of: (tracker: string) => number,
  ): Row => ({
    what,
    value: `${round(of('footfall'))} ${unit}`.trim(),
    target,
    detail: trackers
      .slice(1)
      .map((tracker) => `${tracker} ${round(of(tracker))}`)
      .join(', '),
  })
  const least = 'the least'
  return [
    row('start-up, 4× slowed CPU', 'ms', least, (tracker) => over(tracker, 'startUp')),
    row('layouts forced at start-up', '', '0', (tracker) => over(tracker, 'layouts')),
    row('a click and its sending, 4× slowed CPU', 'ms', 'least of those that tell it', (tracker) =>
      over(tracker, 'click'),
    ),
    row(
      'a scroll on a dirty layout, 4× slowed CPU',
      'ms',
      'least of those that tell it',
      (tracker) => over(tracker, 'scroll'),
    ),
    row('layouts forced by a scroll', '', '0', (tracker) => over(tracker, 'scrollLayouts')),
    row(
      'script, brotli-11',
      'bytes',
      '',
      (tracker) => brotliCompressSync(scripts[tracker]!).length,
    ),
    row('requests of a quiet page view', '', '≤ 2', (tracker) => over(tracker, 'requests')),
  ]
}

const round = (value: number) => Number(value.toPrecision(value < 100 ? 2 : 6))

async function buildScripts(beside: Bench['beside']): Promise<Scripts> {
  const scriptFor = readScripts(join(packageRoot, 'dist/pixel'))
  const scripts: Scripts = {
    footfall: scriptFor(pixelId, `/p/${pixelId}.js`, defaultPixelSettings),
  }
  for (const [tracker, contents] of Object.entries(setups)) {
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: packageRoot },
      bundle: true,
      minify: true,
      write: false,
      format: 'iife',
      target: 'es2020',
      // Loaded by those who record sessions only.
      external: ['./replay-*'],
      logLevel: 'error',
    })
    scripts[tracker] = outputFiles[0]!.text
  }
  for (const [tracker, file] of Object.entries(beside))
    scripts[tracker] = readFileSync(file, 'utf8')
  return scripts
}

/** Serves a page for each variant and its script, and takes whatever is sent. */
async function serve(scripts: Scripts) {
  let requests = 0
  const server = createServer((request, response) => {
    const [, folder, name] = request.url!.split('?')[0]!.split('/')
    if (folder === 'page')
      return response.writeHead(200, { 'content-type': 'text/html' }).end(pageOf(name!))
    if (folder !== 'favicon.ico') requests++
    const script =
      folder === 'p' ? scripts.footfall : folder === 'scripts' ? scripts[name!] : undefined
    response
      .setHeader('content-type', script ? 'text/javascript' : 'application/json')
      .end(script ?? '{}')
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    // A name, as sites have: of an address a cookie's widest domain would be looked for in vain.
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    countRequests: () => requests,
    close: () => server.close().closeAllConnections(),
  }
}

/**
 * Small, because the page's own work is noise here. Its button is a link to another site, which all of them
 * may record.
 */
const pageOf = (variant: string): string => `<!doctype html><title>${variant}</title>
  ${variant === none ? '' : scriptTag(variant)}
  <main><section><a id="link" href="https://elsewhere.example/" onclick="return false"><b>A link</b></a></section></main>`

/** Umami's reads its site's id from its tag. */
const scriptTag = (tracker: string) =>
  `<script async src="${tracker === 'footfall' ? `/p/${pixelId}.js` : `/scripts/${tracker}`}" data-website-id="bench"></script>`

const addContent = `
  const rows = Array.from({ length: 300 }, (_, n) => '<tr><td>' + n + '<td><a href="/">a link</a><td>text')
  document.body.insertAdjacentHTML('beforeend', '<table>' + rows.join('') + '</table>')`

/** Scrolls so many times, a frame each, after the layout has become dirty. */
const scrollDirty = `(async () => {
  for (let n = 0; n < ${scrolls}; n++) {
    document.querySelector('#link').style.paddingLeft = n % 2 + 'px'
    scrollBy(0, 9)
    await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))
  }
})()`

async function visit(
  browser: Browser,
  server: Awaited<ReturnType<typeof serve>>,
  variant: string,
): Promise<Visit> {
  const context = await browser.newContext({ userAgent: chrome })
  try {
    const page = await context.newPage()
    const devtools = await context.newCDPSession(page)
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: cpuSlowdown })
    const requestsBefore = server.countRequests()
    const start = await traced(browser, page, async () => {
      await page.goto(`${server.url}/page/${variant}`)
      await page.waitForTimeout(quietMs)
    })
    const requests = server.countRequests() - requestsBefore
    const click = await traced(browser, page, async () => {
      await page.mouse.click(20, 20)
      await page.waitForTimeout(afterClickMs)
    })
    await page.evaluate(addContent)
    const scroll = await traced(browser, page, async () => {
      await page.evaluate(scrollDirty)
      await page.waitForTimeout(500)
    })
    return {
      startUp: start.ms,
      layouts: start.forcedLayouts,
      click: click.ms,
      scroll: scroll.ms / scrolls,
      scrollLayouts: scroll.forcedLayouts / scrolls,
      requests,
    }
  } finally {
    await context.close()
  }
}
