import { createHash } from 'node:crypto'
import { expect, it, vi } from 'vitest'
import { usePixel } from './harness.ts'
import { pixelId } from './receiver.ts'

const pixel = usePixel()

const lastBeacon = () => pixel.receiver.state.received.at(-1)!.beacon
const idCookie = async () =>
  (await pixel.context.cookies()).find(
    ({ name, domain }) => name === 'footfall_id' && /localhost/.test(domain),
  )

it('the page keeps the id the collector answers, for 13 months', async () => {
  pixel.receiver.state.cookieId = '11111111-2222-4333-8444-555555555555'
  await pixel.visit()
  await pixel.events('page_view', 1)
  await vi.waitFor(async () =>
    expect((await idCookie())?.value).toBe(pixel.receiver.state.cookieId),
  )
  expect(await idCookie()).toMatchObject({ sameSite: 'Lax', path: '/', secure: false })
  expect((await idCookie())!.expires).toBeGreaterThan(Date.now() / 1000 + 394 * 86_400)
  await pixel.page.reload()
  await pixel.events('page_view', 2)
  expect(lastBeacon().cookie_id).toBe(pixel.receiver.state.cookieId)
})

it('without cookies the id is kept in localStorage', async () => {
  await pixel.page.addInitScript(
    `Object.defineProperty(document, 'cookie', { get: () => '', set() {} })`,
  )
  await pixel.visit()
  await pixel.events('page_view', 1)
  const id = lastBeacon().cookie_id
  await pixel.page.reload()
  await pixel.events('page_view', 2)
  expect(lastBeacon().cookie_id).toBe(id)
})

it('hold and denied: what happened is forgotten', async () => {
  await pixel.visit({ settings: { consent: 'hold' }, body: '<button>x</button>' })
  await pixel.page.evaluate(`footfall('consent', 'denied')`)
  await pixel.page.click('button')
  await pixel.page.evaluate(`footfall('consent', 'granted')`)
  await pixel.settled()
  // The page that is open is viewed now; the click was before.
  expect(pixel.receiver.events().map(({ event_type }) => event_type)).toEqual([
    'page_view',
    'custom',
  ])
})

it('denied: what waited in storage for the next page is gone, and never sent', async () => {
  pixel.receiver.state.statuses = [503]
  await pixel.visit()
  // In one step: otherwise the page could send it before.
  await pixel.page.evaluate(`new Promise((denied) => {
    const deny = () =>
      localStorage.getItem('footfall_${pixelId}')?.includes('"type":"page"')
        ? denied(footfall('consent', 'denied'))
        : setTimeout(deny, 5)
    deny()
  })`)
  expect(await pixel.page.evaluate(`localStorage.getItem('footfall_${pixelId}')`)).toBeNull()
  await pixel.page.reload()
  await pixel.settled()
  // Of the page that was loaded again.
  expect(pixel.receiver.events('page_view')).toHaveLength(1)
})

it('without consent to an id a refused batch waits in the page alone, and is sent again', async () => {
  pixel.receiver.state.statuses = Array(100).fill(503)
  await pixel.visit({ settings: { consent: 'cookieless' } })
  const posts = () => pixel.receiver.state.requests.filter((request) => request === 'POST /e')
  // The second request follows once the refusal of the first was handled.
  await vi.waitFor(() => expect(posts().length).toBeGreaterThan(1), { timeout: 10_000 })
  expect(await pixel.page.evaluate('({ ...localStorage })')).toEqual({})
  pixel.receiver.state.statuses = []
  await pixel.events('page_view', 1)
})

it('opt_out: nothing more, on this page and on the next, whatever the page says; opt_in undoes it', async () => {
  await pixel.visit({ body: '<button>x</button>' })
  await pixel.events('page_view', 1)
  await pixel.page.evaluate(`footfall('track', 'waiting'); footfall('opt_out')`)
  await pixel.page.click('button')
  await pixel.page.reload()
  await pixel.page.waitForFunction('footfall.on')
  const requests = pixel.receiver.state.requests.length
  await pixel.page.evaluate(
    `footfall('consent', 'granted'); footfall('track', 'more'); footfall('flush')`,
  )
  await pixel.hide()
  await pixel.page.reload()
  await pixel.page.waitForFunction('footfall.on')
  expect(pixel.receiver.state.requests.length).toBe(requests + 1)
  expect((await idCookie())?.value).toBe('out')
  await pixel.page.evaluate(`footfall('opt_in')`)
  await pixel.settled()
  expect(pixel.receiver.events('click')).toEqual([])
  expect(pixel.receiver.events('custom').map(({ event_data }) => event_data.name)).toEqual([
    'settled',
  ])
  expect((await idCookie())?.value).toBe(lastBeacon().cookie_id)
})

it('a word that is not "granted" is no consent', async () => {
  await pixel.visit({ settings: { consent: 'cookieless' } })
  await pixel.page.waitForFunction('footfall.on')
  await pixel.page.evaluate(`footfall('consent'); footfall('consent', true)`)
  await pixel.settled()
  expect(lastBeacon()).toMatchObject({ consent: false })
  await pixel.page.evaluate(`footfall('consent', 'granted')`)
  await pixel.settled()
  expect(lastBeacon()).toMatchObject({ consent: true, cookie_id: (await idCookie())?.value })
})

it('one id for all sub-domains of a site, in one cookie of the widest domain', async () => {
  for (const host of ['www.shop.example.test', 'basket.shop.example.test', 'shop.example.test']) {
    await pixel.visit({ origin: `http://${host}:${pixel.receiver.port}` })
    await pixel.settled(host)
  }
  const ids = pixel.receiver.state.received.map(({ beacon }) => beacon.cookie_id)
  expect(new Set(ids).size).toBe(1)
  const cookies = (await pixel.context.cookies()).filter(({ name }) => name === 'footfall_id')
  expect(cookies.map(({ domain, value }) => [domain, value])).toEqual([['.example.test', ids[0]]])
})

it('an id from storage alone, or from the cookie alone, is kept on', async () => {
  await pixel.visit()
  await pixel.events('page_view', 1)
  const id = lastBeacon().cookie_id
  await pixel.context.clearCookies()
  await pixel.page.reload()
  await pixel.events('page_view', 2)
  expect(lastBeacon().cookie_id).toBe(id)
  expect((await idCookie())?.value).toBe(id)
  await pixel.page.evaluate('localStorage.clear()')
  await pixel.page.reload()
  await pixel.events('page_view', 3)
  expect(lastBeacon().cookie_id).toBe(id)
})

for (const [signal, value] of [
  ['globalPrivacyControl', 'true'],
  ['doNotTrack', "'1'"],
] as const) {
  it(`${signal} is a no that the page cannot turn; where it is not honoured it is nothing`, async () => {
    await pixel.context.addCookies([
      {
        name: 'footfall_id',
        value: '11111111-2222-4333-8444-555555555555',
        url: pixel.receiver.pageOrigin,
      },
    ])
    await pixel.page.addInitScript(
      `Object.defineProperty(Navigator.prototype, '${signal}', { get: () => ${value} })`,
    )
    await pixel.visit()
    await pixel.page.waitForFunction('footfall.on')
    await pixel.page.evaluate(`footfall('consent', 'granted')`)
    await pixel.events('page_view', 1)
    expect(lastBeacon()).toMatchObject({ consent: false })
    expect(await idCookie()).toBeUndefined()
    await pixel.visit({ settings: { honour_gpc: false } })
    await pixel.events('page_view', 2)
    expect(lastBeacon().cookie_id).toBeDefined()
  })
}

it('identify sends the hash of an address, never the address', async () => {
  await pixel.visit()
  await pixel.events('page_view', 1)
  await pixel.page.evaluate(`footfall('identify', { email: ' Ann@Example.org ' })`)
  await vi.waitFor(() => expect(lastBeacon().hem).toBeDefined())
  expect(lastBeacon().hem).toBe(createHash('sha256').update('ann@example.org').digest('hex'))
  expect(JSON.stringify(pixel.receiver.state.received).toLowerCase()).not.toContain('ann@example')
  await pixel.settled()
  expect(lastBeacon()).not.toHaveProperty('hem')
  await pixel.page.evaluate(`footfall('identify', { hem: '${'A'.repeat(64)}' })`)
  await vi.waitFor(() => expect(lastBeacon().hem).toBe('a'.repeat(64)))
})
