import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { build } from 'esbuild'
import { type Browser, chromium } from 'playwright-core'
import { scriptFor } from '../../collector/ingest/script/pixelScript.ts'
import { packageRoot } from '../../collector/platform/paths.ts'
import { defaultPixelSettings } from '../../schemas/beacon.ts'
import { chrome } from '../harness/api.ts'
import type { Bench, Row } from './rows.ts'
import { median } from './stats.ts'

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

type Tracker = 'footfall' | keyof typeof setups
type Variant = 'none' | Tracker
const trackers: readonly Tracker[] = ['footfall', ...(Object.keys(setups) as (keyof typeof setups)[])]
const variants: readonly Variant[] = ['none', ...trackers]

/** What one visit of a page cost; times in milliseconds of the main thread, at a CPU slowed four times. */
interface Visit {
  startUp: number
  /** Layouts until the page was quiet. */
  layouts: number
  /** Of one click, inside the event. */
  click: number
  /** Of one scroll event after the layout became dirty, inside the event. */
  scroll: number
  /** Besides the page itself; the script is one of them. */
  requests: number
}

const cpuSlowdown = 4
/** How long a page is left alone before its start-up is read: longer than any of them waits to send. */
const quietMs = 3000
/** Events are timed in batches, of which the median counts: others use these cores as well. */
const batches = 20
const eventsPerBatch = 20
/** Fewer say nothing about milliseconds. */
const repeatsLeast = 7

/** A page without a tracker, with Footfall, and with others from the npm registry, visited in turn. */
export async function trackersSideBySide({ repeats, log }: Bench): Promise<Row[]> {
  const scripts = await buildScripts()
  const server = await serve(scripts)
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-blink-features=AutomationControlled'],
  })
  const visits = Object.fromEntries(variants.map((variant) => [variant, [] as Visit[]]))
  try {
    for (let repeat = 0; repeat < Math.max(repeats, repeatsLeast); repeat++) {
      log(`  round ${repeat + 1}`)
      for (const variant of variants) visits[variant]!.push(await visit(browser, server, variant))
    }
  } finally {
    await browser.close()
    server.close()
  }
  /** Median over the page without a tracker, round by round. */
  const over = (variant: Variant, measure: keyof Visit) =>
    median(visits[variant]!.map((visit, round) => visit[measure] - visits.none![round]![measure]))
  const row = (what: string, unit: string, target: string, of: (tracker: Tracker) => number): Row => ({
    what,
    value: `${round(of('footfall'))} ${unit}`,
    target,
    detail: trackers
      .slice(1)
      .map((tracker) => `${tracker} ${round(of(tracker))}`)
      .join(', '),
  })
  return [
    row('start-up, 4× slowed CPU', 'ms', '≤ 12 ms', (tracker) => over(tracker, 'startUp')),
    row('layouts at start-up', '', '0', (tracker) => over(tracker, 'layouts')),
    row('a click, 4× slowed CPU', 'µs', '≤ 40 µs', (tracker) => 1000 * over(tracker, 'click')),
    row(
      'a scroll on a dirty layout, 4× slowed CPU',
      'µs',
      '≤ 10 µs',
      (tracker) => 1000 * over(tracker, 'scroll'),
    ),
    row(
      'script, brotli-11',
      'bytes',
      '≤ 2400 bytes',
      (tracker) => brotliCompressSync(scripts[tracker]).length,
    ),
    row('requests of a quiet page view', '', '≤ 2', (tracker) => over(tracker, 'requests')),
  ]
}

const round = (value: number) => Number(value.toPrecision(value < 100 ? 2 : 6))

async function buildScripts(): Promise<Record<Tracker, string>> {
  const template = readFileSync(join(packageRoot, 'dist/pixel/pixel.js'), 'utf8')
  const scripts: Partial<Record<Tracker, string>> = {
    footfall: scriptFor(template, pixelId, `/p/${pixelId}.js`, defaultPixelSettings),
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
    scripts[tracker as Tracker] = outputFiles[0]!.text
  }
  return scripts as Record<Tracker, string>
}

/** Isolated pages have a clock of 5 µs, others one of 100. */
const pageHeaders = {
  'content-type': 'text/html',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
}

/** Serves a page for each variant and its script, and takes whatever is sent. */
async function serve(scripts: Record<Tracker, string>) {
  let requests = 0
  const server = createServer((request, response) => {
    const [, folder, name] = request.url!.split('?')[0]!.split('/')
    if (folder === 'page') return response.writeHead(200, pageHeaders).end(pageOf(name as Variant))
    if (folder !== 'favicon.ico') requests++
    const script =
      folder === 'p' ? scripts.footfall : folder === 'scripts' ? scripts[name as Tracker] : undefined
    response.setHeader('content-type', script ? 'text/javascript' : 'application/json').end(script ?? '{}')
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    countRequests: () => requests,
    close: () => server.close().closeAllConnections(),
  }
}

/** Nothing much: what a page does itself is noise here. */
const pageOf = (variant: Variant): string => `<!doctype html><title>${variant}</title>
  ${variant === 'none' ? '' : `<script async src="${scriptPath(variant)}"></script>`}
  <main><section><button id="button"><b>Click</b></button></section></main>`

const scriptPath = (tracker: Tracker) => (tracker === 'footfall' ? `/p/${pixelId}.js` : `/scripts/${tracker}`)

/** What a page has to lay out that was scrolled while it changed. */
const addContent = `
  const rows = Array.from({ length: 300 }, (_, n) => '<tr><td>' + n + '<td><a href="/">a link</a><td>text')
  document.body.insertAdjacentHTML('beforeend', '<table>' + rows.join('') + '</table>')`

async function visit(
  browser: Browser,
  server: Awaited<ReturnType<typeof serve>>,
  variant: Variant,
): Promise<Visit> {
  const context = await browser.newContext({ userAgent: chrome })
  try {
    const page = await context.newPage()
    const devtools = await context.newCDPSession(page)
    // What the main thread itself worked, not what else the machine did meanwhile.
    await devtools.send('Performance.enable', { timeDomain: 'threadTicks' })
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: cpuSlowdown })
    const requestsBefore = server.countRequests()
    await page.goto(`${server.url}/page/${variant}`)
    await page.waitForTimeout(quietMs)
    const { metrics } = await devtools.send('Performance.getMetrics')
    const metric = (name: string) => metrics.find((metric) => metric.name === name)!.value
    const click = await page.evaluate<number>(
      perEvent(`
      button.firstChild.dispatchEvent(new MouseEvent('click', { bubbles: true, composed: true, clientX: 9 }))`),
    )
    await page.evaluate(addContent)
    const scroll = await page.evaluate<number>(
      perEvent(`
      button.style.width = 100 + (n % 2) + 'px'
      document.dispatchEvent(new Event('scroll'))`),
    )
    return {
      startUp: metric('TaskDuration') * 1000,
      layouts: metric('LayoutCount'),
      click,
      scroll,
      requests: server.countRequests() - requestsBefore,
    }
  } finally {
    await context.close()
  }
}

/** Milliseconds that one of many events takes. */
const perEvent = (dispatch: string) => `(() => {
  const times = []
  for (let batch = 0; batch < ${batches}; batch++) {
    const start = performance.now()
    for (let n = 0; n < ${eventsPerBatch}; n++) { ${dispatch} }
    times.push((performance.now() - start) / ${eventsPerBatch})
  }
  return times.sort((a, b) => a - b)[${batches / 2}]
})()`
