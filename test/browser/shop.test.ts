import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { Check } from 'typebox/value'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stub } from '../../pixel/stub.mjs'
import { type Beacon, defaultPixelSettings } from '../../schemas/beacon.ts'
import { type EventType, eventDataSchemas, eventTypes } from '../../schemas/events/index.ts'
import { chrome, readRows } from '../harness/api.ts'
import { leaveChromium, openChromium } from '../harness/chromium.ts'
import { ownDatabases } from '../harness/databases.ts'
import { type Service, startService, waitFor } from '../harness/service.ts'
import { quickest } from '../harness/timing.ts'
import { eventsOf, meaningsOf } from '../harness/understood.ts'

/** An event row as the API returns it, its event_data parsed. */
interface ReadEvent {
  row: Record<string, unknown> & { event_id: string; cookie_id: string; ts_millis: number }
  type: EventType
  data: Record<string, unknown> & { url: string; timestamp: string }
}

const viewport = { width: 1440, height: 900 }
const isoTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)

let service: Service
let browser: Browser
let context: BrowserContext
let page: Page
beforeAll(async () => {
  service = await startService({ env: await ownDatabases() })
  browser = await openChromium()
  context = await browser.newContext({ viewport, screen: viewport, userAgent: chrome })
  page = await context.newPage()
  await page.addInitScript(keepBodies)
})

afterAll(async () => {
  await leaveChromium(browser)
  await service?.stop()
})

/**
 * Runs before every page's own scripts: keeps requests to /e in the tab, also the beacons of closing pages,
 * which Playwright does not report.
 */
const keepBodies = `
  const keep = (url, body) => {
    if (!String(url).endsWith('/e')) return
    const bodies = JSON.parse(sessionStorage.getItem('test-bodies') || '[]')
    sessionStorage.setItem('test-bodies', JSON.stringify([...bodies, body]))
  }
  const { fetch } = window
  window.fetch = (url, init) => {
    keep(url, init && init.body)
    return fetch(url, init)
  }
  const { sendBeacon } = navigator
  navigator.sendBeacon = (url, body) => {
    keep(url, body)
    return sendBeacon.call(navigator, url, body)
  }`

const readBodies = async (): Promise<string[]> =>
  JSON.parse(await page.evaluate("sessionStorage.getItem('test-bodies')"))

const at = (path: string) => `${service.url}${path}`

async function readEvents(filter?: string): Promise<ReadEvent[]> {
  const rows = await readRows(service, { limit: '1000', ...(filter && { filter }) })
  return rows.map((row) => ({
    row: row as ReadEvent['row'],
    type: row.event_type as EventType,
    data: JSON.parse(row.event_data as string),
  }))
}

/** Waits until the API returns an event of this type that `isIt` takes. */
const readEvent = (
  type: EventType,
  isIt: (data: ReadEvent['data']) => boolean,
): Promise<ReadEvent> =>
  waitFor(`a ${type} event`, async () =>
    (await readEvents(`event_type:eq:${type}`)).find(({ data }) => isIt(data)),
  )

const urlIs = (path: string) => (data: ReadEvent['data']) => data.url === at(path)

/** The pixel starts when its script has loaded: earlier actions are not recorded. */
const open = async (path: string) => {
  await page.goto(at(path))
  await page.waitForFunction('footfall.on')
}

const clickTo = async (selector: string, path: string) => {
  await page.click(selector)
  await page.waitForURL(at(path))
  await page.waitForFunction('footfall.on')
}

describe('the demo shop in Chromium, read back through the API', () => {
  test('page_view: every field and every column', async () => {
    await open('/demo')
    const { row, data } = await readEvent('page_view', urlIs('/demo'))
    expect(data).toEqual({
      url: at('/demo'),
      title: 'Kiln Lane: stoneware for every day',
      referrer: null,
      screen: viewport,
      viewport,
      timestamp: isoTime,
    })
    const [cookie] = (await context.cookies()).filter(({ name }) => name === 'footfall_id')
    expect(row).toEqual({
      event_id: uuid,
      event_type: 'page_view',
      ts_millis: Date.parse(data.timestamp),
      timestamp: data.timestamp,
      resolved: false,
      event_data: expect.any(String),
      cookie_id: cookie!.value,
      user_agent: chrome,
      referrer_url: null,
      client_ip: '127.0.0.0',
      pixel_id: service.demo.pixel_id,
      project_id: service.demo.project_id,
      source: 'pixel',
      campaign_id: null,
      spend: null,
      page_url: at('/demo'),
      page_host: new URL(service.url).host,
      page_path: '/demo',
      browser: 'Chrome',
      browser_version: '140.0.0.0',
      os: 'Linux',
      os_version: null,
      device_type: 'desktop',
      is_bot: false,
      bot_reason: null,
      utm_source: null,
      utm_medium: null,
      utm_campaign: null,
      utm_term: null,
      utm_content: null,
      click_id_type: null,
      click_id: null,
      referrer_host: null,
      country: null,
      region: null,
      city: null,
      language: 'en-US',
      screen_width: viewport.width,
      viewport_width: viewport.width,
      received_at: isoTime,
    })
    expect(Date.parse(row.received_at as string)).toBeGreaterThanOrEqual(row.ts_millis)
  })

  test('click', async () => {
    await page.locator('#copy-code').scrollIntoViewIfNeeded()
    const button = (await page.locator('#copy-code').boundingBox())!
    const x = Math.round(button.x + button.width / 2)
    const y = Math.round(button.y + button.height / 2)
    const clickedAt = Date.now()
    await page.mouse.click(x, y)
    const { row, data } = await readEvent('click', urlIs('/demo'))
    expect(data).toEqual({
      url: at('/demo'),
      element: {
        ariaLabel: 'Copy the discount code',
        className: '',
        tagName: 'BUTTON',
        id: 'copy-code',
        href: null,
      },
      elementIdentifier: '#copy-code',
      elementText: 'Copy',
      coordinates: { x, y },
      timestamp: isoTime,
    })
    expect(row).toMatchObject({ event_type: 'click', page_path: '/demo', referrer_url: null })
    expect(row.ts_millis).toBeGreaterThanOrEqual(clickedAt)
  })

  test('a click is readable within two seconds', async () => {
    let clicks = 1
    const clickAndRead = async () => {
      await page.click('#copy-code')
      clicks++
      await waitFor('the click', async () => {
        const seen = (await readEvents('event_type:eq:click')).filter(({ data }) =>
          urlIs('/demo')(data),
        )
        return seen.length === clicks
      })
    }
    expect(await quickest(2_000, clickAndRead)).toBeLessThan(2_000)
  })

  test('copy', async () => {
    const { data } = await readEvent('copy', urlIs('/demo'))
    expect(data).toEqual({
      url: at('/demo'),
      text: 'KILN-LANE-10',
      textLength: 12,
      timestamp: isoTime,
    })
  })

  test('scroll_depth: each threshold once', async () => {
    await page.mouse.wheel(0, 20_000)
    await readEvent('scroll_depth', (data) => data.threshold === 100)
    const depths = (await readEvents('event_type:eq:scroll_depth')).map(({ data }) => data)
    expect(depths.map(({ threshold }) => threshold as number).toSorted(byNumber)).toEqual([
      25, 50, 75, 100,
    ])
    for (const depth of depths) {
      expect(depth).toEqual({
        url: at('/demo'),
        percentage: expect.any(Number),
        threshold: expect.any(Number),
        timestamp: isoTime,
      })
      expect(depth.percentage).toBeGreaterThanOrEqual(depth.threshold as number)
    }
  })

  test('the panel shows each event and its row, and is not tracked itself', async () => {
    const { row } = await readEvent('copy', urlIs('/demo'))
    const entry = page.locator('.entries li').filter({ hasText: row.event_id })
    await entry.locator('.entry-state.read').waitFor()
    expect(await entry.locator('.entry-state').textContent()).toMatch(/^read after \d+\.\d\d s$/)
    expect(JSON.parse((await entry.locator('.left pre').textContent())!).text).toBe('KILN-LANE-10')
    expect(JSON.parse((await entry.locator('.row pre').textContent())!)).toEqual(row)

    await page.click('.panel-toggle')
    await page.click('.panel-toggle')
    await page.locator('#panel-body').waitFor()
  })

  test('search: the form leads to a page view and one search', async () => {
    await page.fill('#q', 'mug')
    await page.press('#q', 'Enter')
    await page.waitForURL(at('/demo/search?q=mug'))
    await page.waitForFunction('footfall.on')
    const { data } = await readEvent('search', urlIs('/demo/search?q=mug'))
    expect(data).toEqual({
      url: at('/demo/search?q=mug'),
      query: 'mug',
      results_count: 1,
      timestamp: isoTime,
    })
    const view = await readEvent('page_view', urlIs('/demo/search?q=mug'))
    expect(view.data).toMatchObject({ title: '“mug” · Kiln Lane', referrer: at('/demo') })
    expect(view.row).toMatchObject({ referrer_url: at('/demo'), page_path: '/demo/search' })
    const form = await readEvent('form_submission', urlIs('/demo'))
    expect(form.data.form).toEqual({
      id: 'site-search',
      name: null,
      action: at('/demo/search'),
      method: 'get',
    })
    expect(await readEvents('event_type:eq:search')).toHaveLength(1)
  })

  test('custom: from a call and from an attribute', async () => {
    await clickTo('[data-search-results] a', '/demo/product?item=mug')
    await page.click('#add-to-basket')
    await page.click('#save-for-later')
    const called = await readEvent('custom', ({ name }) => name === 'add_to_basket')
    expect(called.data).toEqual({
      url: at('/demo/product?item=mug'),
      name: 'add_to_basket',
      properties: { item: 'mug', price: 24, currency: 'GBP', glaze: { name: 'moss' } },
      timestamp: isoTime,
    })
    const marked = await readEvent('custom', ({ name }) => name === 'save_for_later')
    expect(marked.data).toMatchObject({ name: 'save_for_later', properties: { item: 'mug' } })
  })

  test('download', async () => {
    const downloading = page.waitForEvent('download')
    await page.click('#care-guide')
    const downloaded = await (await downloading).path()
    expect(readFileSync(downloaded).subarray(0, 5).toString()).toBe('%PDF-')
    const { data } = await readEvent('download', () => true)
    expect(data).toEqual({
      url: at('/demo/product?item=mug'),
      href: at('/demo/assets/care-guide.pdf'),
      filename: 'care-guide.pdf',
      extension: 'pdf',
      timestamp: isoTime,
    })
  })

  test('video: from play to end', async () => {
    await clickTo('nav a[href="/demo/about"]', '/demo/about')
    await page.click('#wheel')
    await readEvent('video', ({ action }) => action === 'ended')
    const videos = (await readEvents('event_type:eq:video')).map(({ data }) => data).reverse()
    expect(videos.map(({ action }) => action)).toEqual([
      'play',
      'progress',
      'progress',
      'progress',
      'ended',
    ])
    const [begun, ...others] = videos.map(({ percent }) => percent as number)
    // A busy browser reports the start a moment later.
    expect(begun).toBeLessThanOrEqual(3)
    expect(others).toEqual([25, 50, 75, 100])
    for (const video of videos) {
      expect(video).toEqual({
        url: at('/demo/about'),
        src: at('/demo/assets/wheel.webm'),
        elementIdentifier: '#wheel',
        title: 'A pot on the wheel',
        action: expect.any(String),
        position: expect.any(Number),
        duration: expect.closeTo(6, 0),
        percent: expect.any(Number),
        timestamp: isoTime,
      })
    }
    const positions = videos.map(({ position }) => position as number)
    expect(positions).toEqual(positions.toSorted(byNumber))
  })

  test('page views of a single-page application: pushState, back and forward', async () => {
    const views = async () =>
      (await readEvents('event_type:eq:page_view,event_data.url:like:%/demo/studio%')).reverse()
    const seen = (count: number) =>
      waitFor(`page view ${count} of the studio`, async () => (await views()).length >= count)

    await clickTo('nav a[href="/demo/studio"]', '/demo/studio')
    await seen(1)
    await page.click('.studio a.button')
    await seen(2)
    await page.click('.studio a.button')
    await seen(3)
    await page.goBack()
    await seen(4)
    await page.goForward()
    await seen(5)
    const [shape, glaze, finish] = [
      at('/demo/studio'),
      at('/demo/studio/glaze'),
      at('/demo/studio/finish'),
    ]
    expect((await views()).map(({ data }) => [data.url, data.title, data.referrer])).toEqual([
      [shape, 'Choose a shape · Studio · Kiln Lane', at('/demo/about')],
      [glaze, 'Choose a glaze · Studio · Kiln Lane', shape],
      [finish, 'Your pot · Studio · Kiln Lane', glaze],
      [glaze, 'Choose a glaze · Studio · Kiln Lane', finish],
      [finish, 'Your pot · Studio · Kiln Lane', glaze],
    ])
  })

  test('form_submission: names of fields, never values, and nothing of secret ones', async () => {
    await clickTo('nav a[href="/demo/checkout"]', '/demo/checkout')
    await page.fill('#name', 'Ada Example')
    await page.fill('#email', 'ada@example.com')
    await page.fill('#pin', '98-76-54')
    await clickTo('#checkout-form button', '/demo/thanks')
    const { data } = await readEvent('form_submission', urlIs('/demo/checkout'))
    expect(data).toEqual({
      url: at('/demo/checkout'),
      form: { id: 'checkout-form', name: 'checkout', action: at('/demo/order'), method: 'post' },
      fields: ['name', 'email', 'country', 'discount_code', 'message'],
      timestamp: isoTime,
    })
    await readEvent('page_view', urlIs('/demo/thanks'))
  })

  test('identify: earlier events are resolved too, and the address stays in the browser', async () => {
    await page.fill('#newsletter-email', ' Ada@Example.com ')
    await page.press('#newsletter-email', 'Enter')
    await waitFor('all events to be resolved', async () =>
      (await readEvents()).every(({ row }) => row.resolved === true),
    )
    const bodies = await readBodies()
    const hem = createHash('sha256').update('ada@example.com').digest('hex')
    expect(bodies.some((body) => body.includes(hem))).toBe(true)
    for (const secret of [/ada@example/i, /Ada Example/, /98-76-54/, /d41d8cd9/]) {
      for (const body of bodies) expect(body).not.toMatch(secret)
    }
  })

  test('every event that left was stored once, with all that was noted of it, and nothing else was', async () => {
    // The collector creates events only from captured ones.
    const noted = (await readBodies()).flatMap((body) => (JSON.parse(body) as Beacon).events)
    const sent = eventsOf(meaningsOf(noted, defaultPixelSettings))
    // A beacon whose answer did not come in time is sent again: the same events, stored once.
    const sentIds = new Set(sent.map(({ event_id }) => event_id))
    const read = await waitFor('everything to be readable', async () => {
      const events = await readEvents()
      return events.length >= sentIds.size ? events : null
    })
    const byId = new Map(read.map((event) => [event.row.event_id, event]))
    expect(byId.size).toBe(read.length)
    expect(sentIds).toEqual(new Set(byId.keys()))
    for (const event of sent) {
      const { event_id, event_type, event_data } = event
      expect(byId.get(event_id)).toMatchObject({ type: event_type, data: event_data })
      expect(Check(eventDataSchemas[event_type], event_data)).toBe(true)
    }
    expect(new Set(read.map(({ type }) => type))).toEqual(new Set(eventTypes))
    expect(new Set(read.map(({ row }) => row.cookie_id)).size).toBe(1)
    expect(read.filter(({ data }) => `${data.elementIdentifier}`.includes('panel'))).toEqual([])
  })

  test('the panel lights up all nine types, and keeps them on other pages and when its list is emptied', async () => {
    const lit = () =>
      page.locator('.types .seen').evaluateAll((chips) => chips.map((c) => c.firstChild!.nodeValue))
    await waitFor('all nine types', async () => (await lit()).length === eventTypes.length)
    expect(await lit()).toEqual(eventTypes)
    await open('/demo/about')
    expect(await lit()).toEqual(eventTypes)
    await page.click('.panel-clear')
    await page.reload()
    expect(await lit()).toEqual(eventTypes)
  })

  test('the panel shows what the collector made of an event, and of which', async () => {
    await open('/demo/search?q=vase')
    const { row } = await readEvent('search', ({ query }) => query === 'vase')
    const entry = page.locator('.entries li').filter({ hasText: row.event_id })
    await entry.locator('.entry-state.read').waitFor()
    expect(await entry.locator('.entry-text').textContent()).toBe('“vase”')
    expect(await entry.locator('.left h3').textContent()).toMatch(
      /^What it was made of, the page_view, after /,
    )
    expect(JSON.parse((await entry.locator('.row pre').textContent())!)).toEqual(row)
  })

  test('consent withdrawn: the id is gone from the browser, events go under another', async () => {
    const [{ row: before }] = (await readEvents()) as [ReadEvent]
    await page.click('#consent')
    await open('/demo/catalogue')
    const { row } = await readEvent('page_view', urlIs('/demo/catalogue'))
    expect(row.cookie_id).not.toBe(before.cookie_id)
    expect(row.resolved).toBe(false)
    expect((await context.cookies()).map(({ name }) => name)).toEqual([])
  })

  test('where the settings wait for consent, one that the page grants keeps the visitor', async () => {
    const { api_key, api_secret, pixel_id } = service.demo
    const script = async () => (await fetch(at(`/p/${pixel_id}.js`))).text()
    const before = await script()
    const changed = await fetch(at('/api/v1/pixel/update'), {
      method: 'PUT',
      headers: {
        'x-api-key': api_key,
        'x-api-secret': api_secret,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ pixel_id, settings: { consent: 'cookieless' } }),
    })
    expect(changed.status).toBe(200)
    await waitFor('the script with the settings', async () => (await script()) !== before)
    const openVisitor = () => browser.newContext({ viewport, userAgent: chrome })
    const visit = async (visitor: BrowserContext, name: string) => {
      const own = await visitor.newPage()
      await own.goto(at('/demo/about'))
      await own.waitForFunction('footfall.on')
      await own.evaluate(`footfall('consent', 'granted'); footfall('track', '${name}')`)
      return (await readEvent('custom', (data) => data.name === name)).row.cookie_id
    }
    const [one, other] = [await openVisitor(), await openVisitor()]
    const first = await visit(one, 'granted_first')
    expect(await visit(one, 'granted_later')).toBe(first)
    // Without consent, all visitors of one address and browser have the same id of the day.
    expect(await visit(other, 'granted_by_another')).not.toBe(first)
    await Promise.all([one.close(), other.close()])
  })
})

describe('the shop’s files', () => {
  test('every page has the snippet that the pixel documents', () => {
    const directory = new URL('../../examples/shop/', import.meta.url)
    const pages = readdirSync(directory).filter((name) => name.endsWith('.html'))
    expect(pages.length).toBeGreaterThan(6)
    for (const name of pages) {
      const html = readFileSync(new URL(name, directory), 'utf8')
      expect(html, name).toContain(`<script>${stub}</script>\n`)
      expect(html, name).toContain('<script async src="/p/{{pixel_id}}.js"></script>')
    }
  })

  test.each([
    ['no id', ''],
    ['not a uuid', '?event_id=1'],
    ['one good, one bad', '?event_id=5a3b1e00-0000-4000-8000-000000000001,x'],
    ['too many', `?event_id=${Array(51).fill('5a3b1e00-0000-4000-8000-000000000001')}`],
    ['a bad time', '?event_id=5a3b1e00-0000-4000-8000-000000000001&start_ms=yesterday'],
  ])('GET /demo/rows with %s answers 400', async (_case, query) => {
    const answer = await fetch(at(`/demo/rows${query}`))
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error: 'invalid_parameter' })
  })

  test('GET /demo/rows answers the rows of the API, for one id and for several', async () => {
    const rows = await readRows(service, { limit: '3' })
    const ids = rows.map(({ event_id }) => event_id as string)
    const rowsOf = async (asked: string[]) => {
      const answer = await fetch(at(`/demo/rows?event_id=${asked}`))
      return ((await answer.json()) as { rows: unknown[] }).rows
    }
    expect(await rowsOf(ids)).toEqual(rows)
    expect(await rowsOf(ids.slice(0, 1))).toEqual(rows.slice(0, 1))
  })

  test('no page tells the key or its secret', async () => {
    const html = await (await fetch(at('/demo'))).text()
    expect(html).not.toContain(service.demo.api_key)
    expect(html).not.toContain(service.demo.api_secret)
  })
})

const byNumber = (a: number, b: number) => a - b
