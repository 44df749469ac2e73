import type { Browser, Page, Request } from 'playwright-core'
import { checkUserAgent } from '../../../schemas/beacon.ts'
import { type CapturedType, eventTypeOf } from '../../../schemas/captured.ts'

export interface Observation {
  url: string
  /** The status of the page; null with `failure` if it did not load. */
  status: number | null
  failure: string | null
  /** Scripts with the path of the pixel, in the page's HTML or requested by it. */
  scripts: ScriptSeen[]
  hasStub: boolean
  /** Whether the pixel sent nothing, so the check granted consent as a banner does. */
  hasGranted: boolean
  /** Whether the pixel has set its mark on window.footfall. */
  isRunning: boolean
  beacons: BeaconSeen[]
  violations: Violation[]
  /** Browser messages about the page: integrity, types, cross-origin rules. */
  complaints: string[]
  errors: { message: string; stack: string }[]
}

export interface ScriptSeen {
  url: string
  /** The script tag's type, which consent managers change to block a script; usually empty. */
  type: string
  answer: Answer | null
}

export interface Answer {
  /** The browser's error message; null if the page received this response. */
  failure: string | null
  /** Null: no response. For a withheld script, that of a second request without the browser. */
  status: number | null
  body: string
}

export interface BeaconSeen {
  url: string
  pixelId: string
  /** Whether it has the id of a visitor; without consent, it has none. */
  hasVisitorId: boolean
  isAfterConsent: boolean
  events: { type: string; name: string | null }[]
  answer: Answer | null
}

/** A violation of the page's Content-Security-Policy. */
export interface Violation {
  directive: string
  /** The blocked URL, or a word such as "inline". */
  blocked: string
}

/** How long to wait for an event, in milliseconds; tag managers and idle callbacks delay it. */
const defaultPatienceMs = 10_000
const pageTimeoutMs = 30_000
const askTimeoutMs = 5_000

/** /p/PIXEL_ID.js under any prefix, with a version before .js if it is pinned. */
const scriptPath = /\/p\/([^/.]+)(?:\.[0-9a-f]{16})?\.js$/

/** Additional scripts of the pixel, served next to it. */
const chunks = ['capture', 'vitals', 'embeds', 'forms', 'identify', 'debug', 'frustration']

/** Returns the pixel id in the URL of a pixel's script; null for other URLs. */
export function pixelIdOf(url: string): string | null {
  if (!URL.canParse(url)) return null
  const id = scriptPath.exec(new URL(url).pathname)?.[1]
  return id === undefined || chunks.includes(id) ? null : id
}

/** Loads the page until the pixel has sent an event or `patienceMs` have passed. */
export async function observe(
  browser: Browser,
  url: string,
  patienceMs = defaultPatienceMs,
): Promise<Observation> {
  const page = await browser.newPage({ userAgent: await userAgentOf(browser) })
  const seen: Observation = {
    url,
    status: null,
    failure: null,
    scripts: [],
    hasStub: false,
    hasGranted: false,
    isRunning: false,
    beacons: [],
    violations: [],
    complaints: [],
    errors: [],
  }
  try {
    await watch(page, seen)
    const response = await page.goto(url, { waitUntil: 'load', timeout: pageTimeoutMs })
    seen.status = response?.status() ?? null
    await watchFor(page, seen, patienceMs)
    if (seen.isRunning && seen.beacons.length === 0) {
      seen.hasGranted = true
      await page.evaluate(`footfall('consent', 'granted')`)
      await watchFor(page, seen, patienceMs)
    }
  } catch (error) {
    seen.failure = (error as Error).message.split('\n')[0]!
  } finally {
    await page.close()
  }
  return seen
}

/** Watches the page until the pixel has sent an event, at most so long. */
async function watchFor(page: Page, seen: Observation, patienceMs: number): Promise<void> {
  const deadline = Date.now() + patienceMs
  while (!isSettled(seen) && Date.now() < deadline) {
    await readPage(page, seen)
    await page.waitForTimeout(100)
  }
  await readPage(page, seen)
}

/** Returns the browser's User-Agent with the mark by which the collector recognizes a check. */
async function userAgentOf(browser: Browser): Promise<string> {
  const page = await browser.newPage()
  try {
    return `${await page.evaluate<string>('navigator.userAgent')} ${checkUserAgent}`
  } finally {
    await page.close()
  }
}

/** Whether further observation cannot change the result. */
const isSettled = ({ scripts, beacons }: Observation): boolean =>
  beacons.some(({ answer }) => answer !== null) ||
  (scripts.length > 0 &&
    scripts.every(({ answer }) => answer && (answer.failure !== null || answer.status !== 200)))

async function watch(page: Page, seen: Observation): Promise<void> {
  await page.exposeFunction('footfallCheckViolation', (directive: string, blocked: string) =>
    seen.violations.push({ directive, blocked }),
  )
  await page.addInitScript(`addEventListener('securitypolicyviolation', (event) =>
    footfallCheckViolation(event.effectiveDirective, event.blockedURI), true)`)
  page.on('pageerror', ({ message, stack = '' }) => seen.errors.push({ message, stack }))
  page.on('console', (message) => {
    if (message.type() === 'error') seen.complaints.push(message.text())
  })
  page.on('request', async (request) => {
    const isScript = request.resourceType() === 'script' && pixelIdOf(request.url()) !== null
    const beacon = isScript ? null : beaconOf(request, seen.hasGranted)
    if (beacon) seen.beacons.push(beacon)
    const target = isScript ? scriptSeen(seen, request.url()) : beacon
    if (target) target.answer = await answerTo(request)
  })
}

function scriptSeen(seen: Observation, url: string): ScriptSeen {
  let script = seen.scripts.find((script) => script.url === url)
  if (!script) {
    script = { url, type: '', answer: null }
    seen.scripts.push(script)
  }
  return script
}

interface SentEvent {
  type: string
  name?: string
  event_type?: string
  event_data?: { name?: string }
}

function eventSeen({
  type,
  name,
  event_type,
  event_data,
}: SentEvent): BeaconSeen['events'][number] {
  const of = event_type ?? eventTypeOf[type as CapturedType] ?? type
  return { type: of, name: of === 'custom' ? (event_data?.name ?? name ?? null) : null }
}

/** The endpoint may have any path, so the body identifies a beacon. */
function beaconOf(request: Request, isAfterConsent: boolean): BeaconSeen | null {
  if (request.method() !== 'POST') return null
  try {
    const { pixel_id, cookie_id, events } = JSON.parse(request.postData() ?? '')
    if (typeof pixel_id !== 'string' || !Array.isArray(events)) return null
    return {
      url: request.url(),
      pixelId: pixel_id,
      hasVisitorId: cookie_id !== null,
      isAfterConsent,
      events: events.map(eventSeen),
      answer: null,
    }
  } catch {
    return null
  }
}

async function answerTo(request: Request): Promise<Answer> {
  const response = await request.response()
  if (response) {
    const body = await response.text().catch(() => '')
    return { failure: null, status: response.status(), body }
  }
  const failure = request.failure()?.errorText ?? 'no answer'
  // Browsers hide an error response to a script request from the page, so the check requests the script
  // itself.
  const asked = request.method() === 'GET' ? await ask(request.url()) : null
  return { failure, status: asked?.status ?? null, body: asked?.body ?? '' }
}

async function ask(url: string): Promise<{ status: number; body: string } | null> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(askTimeoutMs) })
    return { status: answer.status, body: await answer.text() }
  } catch {
    return null
  }
}

/** Reads the contents of the page: script tags without a request, the stub, the running pixel. */
async function readPage(page: Page, seen: Observation): Promise<void> {
  const found = await page
    .evaluate<{ tags: { url: string; type: string }[]; hasStub: boolean; isRunning: boolean }>(`({
      tags: [...document.querySelectorAll('script')].map(({ src, dataset, type }) =>
        ({ url: src || new URL(dataset.src || '', location.href).href, type })),
      hasStub: [...document.scripts].some(({ textContent }) => /footfall\\.q/.test(textContent)),
      isRunning: !!window.footfall?.on,
    })`)
    // The page cannot be read while it redirects.
    .catch(() => null)
  if (!found) return
  for (const { url, type } of found.tags)
    if (pixelIdOf(url) !== null) scriptSeen(seen, url).type = type
  seen.hasStub = found.hasStub
  seen.isRunning = found.isRunning
}
