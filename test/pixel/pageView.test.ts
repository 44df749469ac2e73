import { describe, expect, it } from 'vitest'
import { usePixel } from './harness.ts'
import { pixelId } from './receiver.ts'

const pixel = usePixel()

describe('page_view', () => {
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
