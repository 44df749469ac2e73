import { describe, expect, it } from 'vitest'
import { usePixel } from './harness.ts'
import { pixelId } from './receiver.ts'

const pixel = usePixel()

describe('page_view', () => {
  it('a quiet page needs the script and one beacon, and no preflight', async () => {
    await pixel.visit({ body: 'short' })
    const [view] = await pixel.events('page_view', 1)
    expect(view).toMatchObject({
      url: `${pixel.receiver.pageOrigin}/page`,
      title: 'A page',
      referrer: null,
      viewport: { width: 1000, height: 800 },
    })
    expect(pixel.receiver.state.requests).toEqual([`GET /p/${pixelId}.js`, 'POST /e'])
    const [{ beacon, headers }] = pixel.receiver.state.received as [
      (typeof pixel.receiver.state.received)[0],
    ]
    expect(headers['content-type']).toMatch(/^text\/plain/)
    expect(beacon.pixel_id).toBe(pixelId)
    expect(beacon.consent).toBe(true)
  })

  it('one for each navigation within the page, none for a replace to the same URL', async () => {
    await pixel.visit()
    await pixel.page.evaluate(`
      history.pushState({}, '', '/two')
      document.title = 'Two'
      history.replaceState({ again: 1 }, '', '/two')
      new Promise((rested) => setTimeout(rested, 200)).then(() => {
        history.replaceState({}, '', '/three')
        document.title = 'Three'
      })`)
    await pixel.events('page_view', 3)
    await pixel.page.evaluate('history.back()')
    const views = await pixel.events('page_view', 4)
    const { pageOrigin } = pixel.receiver
    expect(views.map(({ url }) => url)).toEqual(
      ['/page', '/two', '/three', '/page'].map((path) => pageOrigin + path),
    )
    expect(views[1]).toMatchObject({ title: 'Two', referrer: `${pageOrigin}/page` })
    expect(views[2]).toMatchObject({ title: 'Three', referrer: `${pageOrigin}/two` })
    await pixel.settled()
    await pixel.events('page_view', 4)
  })

  it('a jump to a heading or to the top is none', async () => {
    await pixel.visit({
      body: '<a href="#">top</a><a id="jump" href="#part">jump</a><h2 id="part">Part</h2>',
    })
    await pixel.page.click('a')
    await pixel.page.click('a')
    await pixel.page.click('#jump')
    await pixel.page.waitForURL(/#part/)
    await pixel.page.evaluate('history.back()')
    await pixel.page.waitForURL(/#$/)
    await pixel.events('click', 3)
    await pixel.settled()
    await pixel.events('page_view', 1)
  })

  it('one when the page comes back from the back/forward cache', async () => {
    pixel.put({ path: '/next', body: 'next' })
    await pixel.visit()
    await pixel.events('page_view', 1)
    await pixel.page.goto(`${pixel.receiver.pageOrigin}/next`)
    await pixel.events('page_view', 2)
    await pixel.page.evaluate('setTimeout(() => history.back())')
    const views = await pixel.events('page_view', 3)
    expect(views.map(({ url }) => new URL(url).pathname)).toEqual(['/page', '/next', '/page'])
    expect(
      pixel.receiver.state.requests.filter((request) => request.startsWith('GET')),
    ).toHaveLength(2)
  })

  it('a prerendered page counts when it is shown, with the calls made before', async () => {
    await pixel.page.addInitScript(
      `Object.defineProperty(document, 'prerendering', { get: () => !window.isShown })`,
    )
    await pixel.visit()
    await pixel.page.waitForFunction('footfall.on')
    await pixel.page.evaluate(`footfall('track', 'early')`)
    expect(pixel.receiver.events()).toEqual([])
    await pixel.page.evaluate(`
      window.isShown = true
      document.dispatchEvent(new Event('prerenderingchange'))`)
    await pixel.events('page_view', 1)
    await pixel.events('custom', 1)
  })

  it('a second copy of the script does nothing', async () => {
    await pixel.visit()
    await pixel.events('page_view', 1)
    await pixel.page.addScriptTag({
      url: `${pixel.receiver.collectorOrigin}/p/${pixelId}.js?again`,
    })
    await pixel.settled()
    await pixel.events('page_view', 1)
  })

  it('the module counts like the script', async () => {
    pixel.receiver.state.pages.set('/module', '<!doctype html><title>Module</title><p>text</p>')
    await pixel.page.goto(`${pixel.receiver.pageOrigin}/module`)
    const isSame = await pixel.page.evaluate(`import('/index.js').then(({ init }) => {
      const options = { pixel_id: '${pixelId}', endpoint: '${pixel.receiver.collectorOrigin}/e' }
      const footfall = init(options)
      footfall('track', 'from the module')
      return footfall === window.footfall && init(options) === footfall
    })`)
    expect(isSame).toBe(true)
    await pixel.events('page_view', 1)
    await pixel.events('custom', 1)
  })
})

describe('scroll_depth', () => {
  const tall = '<div style="height: 4000px">tall</div>'

  it('each threshold once per page view, with the depth reached', async () => {
    await pixel.visit({ body: tall, head: '<style>body { margin: 0 }</style>' })
    await pixel.events('page_view', 1)
    expect(pixel.receiver.events('scroll_depth')).toEqual([])
    await pixel.page.mouse.wheel(0, 1400)
    const [first, second] = await pixel.events('scroll_depth', 2)
    expect([first!.threshold, second!.threshold]).toEqual([25, 50])
    expect(first!.percentage).toBe(55)
    await pixel.page.mouse.wheel(0, 9000)
    await pixel.events('scroll_depth', 4)
    await pixel.page.mouse.wheel(0, -9000)
    await pixel.page.waitForFunction('scrollY === 0')
    await pixel.page.mouse.wheel(0, 9000)
    await pixel.page.waitForFunction('scrollY > 3000')
    await pixel.settled()
    await pixel.events('scroll_depth', 4)
  })

  it('none while the page still grows', async () => {
    await pixel.visit({
      body: 'short',
      head: `<script>addEventListener('load', () => setTimeout(() => {
        document.body.style.height = '9000px'
      }, 200))</script>`,
    })
    await pixel.events('page_view', 1)
    await pixel.settled()
    expect(pixel.receiver.events('scroll_depth')).toEqual([])
  })
})

it('every event has the referrer of the page that it happened on', async () => {
  pixel.put({ body: '<button>Buy</button>' })
  await pixel.page.goto(`${pixel.receiver.pageOrigin}/page`, { referer: 'https://search.example/' })
  await pixel.page.waitForFunction('footfall.on')
  await pixel.page.click('button')
  await pixel.page.evaluate(
    `footfall('track', 'first'); history.pushState({}, '', '/page?2'); footfall('track', 'second')`,
  )
  await pixel.page.click('button')
  await pixel.settled()
  const referrers = pixel.receiver
    .events()
    .map(({ event_type, event_data, ...event }) => [
      event_type,
      new URL(event_data.url).search,
      (event as { referrer?: string }).referrer,
    ])
  for (const [type, search, referrer] of referrers)
    expect(referrer, `${type} ${search}`).toBe(
      search ? `${pixel.receiver.pageOrigin}/page` : 'https://search.example/',
    )
  expect(referrers.length).toBeGreaterThanOrEqual(6)
})

it('so has one that is sent before the URL has rested', async () => {
  await pixel.visit({})
  // At once idle: else the callback may come only when the URL has rested.
  await pixel.page.evaluate(
    `window.requestIdleCallback = (back) => back(); history.pushState({}, '', '/page?2'); footfall('track', 'early'); footfall('flush')`,
  )
  await pixel.events('custom', 1)
  const [early] = pixel.receiver.events('custom')
  expect((early as { referrer?: string }).referrer).toBe(`${pixel.receiver.pageOrigin}/page`)
})
