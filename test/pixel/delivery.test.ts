import { expect, it, vi } from 'vitest'
import { usePixel } from './harness.ts'
import { pixelId } from './receiver.ts'

const pixel = usePixel()

const posts = () => pixel.receiver.state.requests.filter((request) => request === 'POST /e').length
const names = () => pixel.receiver.events('custom').map(({ event_data }) => event_data.name)

it('a page that is hidden sends at once, by beacon', async () => {
  await pixel.page.addInitScript(`
    window.beacons = 0
    const original = navigator.sendBeacon
    navigator.sendBeacon = function (...args) { beacons++; return original.apply(this, args) }`)
  await pixel.visit()
  await pixel.events('page_view', 1)
  expect(await pixel.page.evaluate('beacons')).toBe(0)
  await pixel.page.evaluate(`footfall('track', 'last')`)
  await pixel.hide()
  await pixel.events('custom', 1)
  expect(await pixel.page.evaluate('beacons')).toBe(1)
})

it('a refused batch is sent again with the same events', async () => {
  pixel.receiver.state.statuses = [503, 429]
  await pixel.visit()
  await pixel.events('page_view', 1)
  expect(posts()).toBe(3)
})

it('a batch the collector calls wrong is dropped, and the visitor’s id stays', async () => {
  pixel.receiver.state.statuses = [400]
  await pixel.visit()
  await vi.waitFor(() => expect(posts()).toBe(1), { timeout: 30_000 })
  const id = () => pixel.page.evaluate('localStorage.footfall_id')
  const before = await id()
  await pixel.settled()
  expect(before).toMatch(/^[\da-f-]{36}$/)
  expect(await id()).toBe(before)
  expect(pixel.receiver.events('page_view')).toEqual([])
})

it('what could not be sent waits in storage, and the next page sends it', async () => {
  pixel.receiver.state.statuses = [503]
  await pixel.visit()
  await vi.waitFor(() => expect(posts()).toBe(1))
  await vi.waitFor(async () => expect(await parked()).toContain('"type":"page"'), {
    timeout: 30_000,
  })
  await pixel.page.evaluate(
    'navigator.sendBeacon = () => false; window.fetch = () => Promise.reject()',
  )
  await pixel.page.evaluate(`footfall('track', 'refused')`)
  await pixel.page.reload()
  await pixel.events('custom', 1)
  const views = await pixel.events('page_view', 2)
  expect(String(views[0]!.timestamp) < String(views[1]!.timestamp)).toBe(true)
  await vi.waitFor(async () => expect(await parked()).toBeNull())
})

it('parked events of more than 30 days ago are dropped, and younger ones sent', async () => {
  const { state, pageOrigin } = pixel.receiver
  state.pages.set('/without', 'A page without the pixel')
  await pixel.page.goto(`${pageOrigin}/without`)
  const events = [31, 29].map((days) => ({
    type: 'track',
    id: Math.random(),
    name: `of ${days} days ago`,
    properties: {},
    url: pageOrigin,
    referrer: '',
    at: Date.now() - days * 86_400_000,
  }))
  await pixel.page.evaluate(
    ([key, text]) => localStorage.setItem(key!, text!),
    [`footfall_${pixelId}`, JSON.stringify(events)],
  )
  await pixel.visit()
  await pixel.settled()
  expect(names()).toEqual(['of 29 days ago', 'settled'])
  expect(await parked()).toBeNull()
})

/** A page that has been refused, and asks again when `happens`, which parks one event more; then the collector is back. */
async function askAgainWhile(happens: () => Promise<unknown>): Promise<void> {
  const { state, pageOrigin } = pixel.receiver
  state.statuses = Array(100).fill(503)
  await pixel.visit()
  await vi.waitFor(async () => expect(await parked()).toContain('"type":"page"'), {
    timeout: 30_000,
  })
  state.answerDelayMs = 1000
  const before = posts()
  await vi.waitFor(() => expect(posts()).toBe(before + 1), { timeout: 30_000 })
  await pixel.page.evaluate(`navigator.sendBeacon = () => false; footfall('track', 'after')`)
  await happens()
  expect(await parked()).toMatch(/"type":"page".*"name":"after"/)
  state.statuses = []
  state.answerDelayMs = 0
  await pixel.page.goto(`${pageOrigin}/page`)
  await pixel.events('custom', 1)
  await pixel.events('page_view', 2)
}

it('what is sent again as its page goes waits for the next page, with what came after', () =>
  askAgainWhile(async () => {
    pixel.receiver.state.pages.set('/without', 'A page without the pixel')
    await pixel.page.goto(`${pixel.receiver.pageOrigin}/without`)
  }))

it('what is refused again while its page is hidden joins what was parked meanwhile', () =>
  askAgainWhile(async () => {
    await pixel.hide()
    await pixel.page.waitForFunction(
      `performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/e')).length > 1`,
    )
  }))

it('an event too large for any body costs its neighbours nothing', async () => {
  await pixel.visit()
  await pixel.page.waitForFunction('footfall.on')
  await pixel.page.evaluate(
    `footfall('track', 'huge', { text: 'x'.repeat(70_000) }); footfall('track', 'other')`,
  )
  await pixel.events('custom', 1)
  expect(names()).toEqual(['other'])
})

/** What waits in the page's storage. */
const parked = () => pixel.page.evaluate(`localStorage.getItem('footfall_${pixelId}')`)

const hostilePages = {
  'storage and cookies that throw': `
    Object.defineProperty(window, 'localStorage', { get() { throw new Error('denied') } })
    Object.defineProperty(document, 'cookie', { get() { throw new Error('denied') }, set() { throw new Error('no') } })`,
  'no requestIdleCallback, ResizeObserver or crypto': `
    for (const name of ['requestIdleCallback', 'ResizeObserver']) window[name] = undefined
    Object.defineProperty(window, 'crypto', { value: undefined })`,
  'frozen history': 'Object.freeze(history)',
  'a null currentScript': `Object.defineProperty(document, 'currentScript', { get: () => null })`,
}

for (const [hostility, script] of Object.entries(hostilePages)) {
  it(`works with ${hostility}`, async () => {
    await pixel.page.addInitScript(script)
    await pixel.visit({ body: '<button>x</button>' })
    await pixel.page.click('button')
    await pixel.events('click', 1)
    await pixel.events('page_view', 1)
    await pixel.page.evaluate(`footfall('track', 'last')`)
    await pixel.hide()
    await pixel.events('custom', 1)
  })
}

for (const patch of [
  'undefined',
  '() => undefined',
  '() => { throw new Error() }',
  '() => Promise.reject()',
]) {
  it(`with window.fetch = ${patch} events go when the page does`, async () => {
    await pixel.page.addInitScript(`window.fetch = ${patch}`)
    await pixel.visit()
    await vi.waitFor(async () => expect(await parked()).toContain('"type":"page"'), {
      timeout: 30_000,
    })
    await pixel.hide()
    // Twice is right here: nobody can know whether a beacon arrived while fetch fails. The id is the same.
    await vi.waitFor(() => {
      expect(new Set(pixel.receiver.events('page_view').map(({ event_id }) => event_id)).size).toBe(
        1,
      )
    })
  })
}

it('odd event targets do no harm', async () => {
  await pixel.visit({ body: '<p>text</p>' })
  await pixel.page.waitForFunction('footfall.on')
  await pixel.page.evaluate(`
    for (const type of ['click', 'copy', 'submit', 'play', 'timeupdate', 'popstate', 'pageshow', 'scroll']) {
      for (const target of [window, document, document.querySelector('p').firstChild]) {
        target.dispatchEvent(new Event(type, { bubbles: true }))
      }
    }`)
  await pixel.settled()
})
