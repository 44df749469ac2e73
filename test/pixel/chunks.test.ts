import { createHash } from 'node:crypto'
import { expect, it, vi } from 'vitest'
import { loadCapture, usePixel } from './harness.ts'
import { pixelId } from './receiver.ts'

const pixel = usePixel()

/** The chunk as the collector adds it to a script: in idle time, from next to the script. */
const loadChunk = (name: string) =>
  pixel.page.evaluate(`import('${pixel.receiver.collectorOrigin}/p/${name}.js').then(() => {})`)

it('web vitals: each metric once, with value and rating, the last ones when the page is hidden', async () => {
  await pixel.visit({ body: '<h1>A heading</h1><button onclick="this.remove()">x</button>' })
  await pixel.page.waitForFunction('footfall.on')
  await loadChunk('vitals')
  // A browser reports a paint and a click with its own delay; after a click it reports no LCP.
  const told = (name: string) =>
    pixel.page.waitForFunction(`performance.getEntriesByName('${name}').length > 0`)
  await told('first-contentful-paint')
  await pixel.page.click('button')
  await told('pointerdown')
  await pixel.page.evaluate(
    'new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)))',
  )
  await pixel.hide()
  const vitals = await pixel.events('custom', 5)
  expect(new Set(vitals.map(({ name }) => name))).toEqual(new Set(['web_vitals']))
  const properties = vitals.map(({ properties }) => properties as Record<string, unknown>)
  expect(properties.map(({ name }) => name).sort()).toEqual(['CLS', 'FCP', 'INP', 'LCP', 'TTFB'])
  for (const { value, rating } of properties) {
    expect(value).toBeTypeOf('number')
    expect(rating).toMatch(/^(good|needs-improvement|poor)$/)
  }
})

/** A player that speaks as YouTube's does, once it is listened to. */
const youtube = `<script>
  addEventListener('message', ({ data, source }) => {
    if (JSON.parse(data).event !== 'listening' || window.isHeard) return
    window.isHeard = true
    const say = (info) => source.postMessage(JSON.stringify({ event: 'infoDelivery', info }), '*')
    say({ videoData: { title: 'Throwing a bowl' }, duration: 40, currentTime: 0, playerState: -1 })
    say({ playerState: 1 })
    for (const currentTime of [3, 11, 12, 21]) say({ currentTime })
    say({ playerState: 2 })
    say({ playerState: 1 })
    say({ currentTime: 31 })
    say({ currentTime: 40, playerState: 0 })
  })
</script>`

/** A player that speaks as Vimeo's does. */
const vimeo = `<script>
  const asked = new Set()
  const say = (message) => parent.postMessage(JSON.stringify(message), '*')
  addEventListener('message', ({ data }) => {
    const { method, value } = JSON.parse(data)
    if (method === 'getVideoTitle') say({ method, value: 'Glazing' })
    if (method === 'addEventListener') asked.add(value)
    if (asked.size < 4 || window.hasPlayed || method !== 'getVideoTitle') return
    window.hasPlayed = true
    const at = (event, seconds) => say({ event, data: { seconds, duration: 8 } })
    at('play', 0)
    for (const seconds of [1, 2, 3, 4.5, 6, 8]) at('timeupdate', seconds)
    at('pause', 8)
    at('ended', 8)
  })
  say({ event: 'ready' })
</script>`

const told = (videos: Record<string, unknown>[]) =>
  videos.map(({ action, percent }) => (action === 'progress' ? percent : action))

it('players of YouTube tell what they play; one that may not speak stays alone', async () => {
  await pixel.context.route('https://www.youtube.com/**', (route) =>
    route.fulfill({ contentType: 'text/html', body: youtube }),
  )
  await pixel.visit({
    body: `<iframe src="https://www.youtube.com/embed/abc?enablejsapi=1"></iframe>
      <iframe src="https://www.youtube.com/embed/silent"></iframe>`,
  })
  await pixel.page.waitForFunction('footfall.on')
  await loadCapture(pixel.page)
  await loadChunk('embeds')
  const videos = await pixel.events('video', 7)
  expect(told(videos)).toEqual(['play', 25, 50, 'pause', 'play', 75, 'ended'])
  expect(videos[0]).toMatchObject({
    title: 'Throwing a bowl',
    src: 'https://www.youtube.com/embed/abc?enablejsapi=1',
    duration: 40,
  })
})

it('players of Vimeo, those that come later too', async () => {
  await pixel.context.route('https://player.vimeo.com/**', (route) =>
    route.fulfill({ contentType: 'text/html', body: vimeo }),
  )
  await pixel.visit()
  await pixel.page.waitForFunction('footfall.on')
  await loadCapture(pixel.page)
  await loadChunk('embeds')
  await pixel.page.evaluate(`
    const frame = document.createElement('iframe')
    frame.src = 'https://player.vimeo.com/video/1'
    document.body.append(frame)`)
  const videos = await pixel.events('video', 5)
  expect(told(videos)).toEqual(['play', 25, 50, 75, 'ended'])
  expect(videos[4]).toMatchObject({ title: 'Glazing', percent: 100 })
})

const signUp = `<form id="join" onsubmit="return false"><input type="email" name="contact"><button>Join</button></form>
  <form id="quiet" data-footfall-ignore onsubmit="return false">
    <input type="email" name="contact" value="eve@example.org"><button>Send</button></form>
  <form id="masked" onsubmit="return false">
    <input type="email" name="contact" value="dan@example.org" data-footfall-mask><button>Send</button></form>
  <form id="within" onsubmit="return false">
    <p data-footfall-mask><input type="email" name="contact" value="joe@example.org"></p><button>Send</button></form>
  <form id="plain" onsubmit="return false"><input name="city" value="bob@example.org"><button>Send</button></form>`

const hems = () =>
  pixel.receiver.state.received.flatMap(({ beacon }) =>
    beacon.hem ? [[beacon.hem, beacon.hem_source]] : [],
  )

it('an address sent in a form is told by its hash where the settings ask for it, and only with consent', async () => {
  await pixel.visit({ body: signUp, settings: { consent: 'cookieless' } })
  await pixel.page.waitForFunction('footfall.on')
  await loadChunk('forms')
  const send = async (address: string, name: string) => {
    await pixel.page.fill('#join input', address)
    // The receiver tells the first person of a beacon.
    for (const form of ['quiet', 'masked', 'within', 'plain', 'join'])
      await pixel.page.click(`#${form} button`)
    await vi.waitFor(() => expect(pixel.receiver.state.requests).toContain('GET /p/identify.js'))
    await pixel.page.evaluate(
      `import('${pixel.receiver.collectorOrigin}/p/identify.js').then(() => {})`,
    )
    await pixel.settled(name)
    await pixel.settled(`${name} again`)
  }
  await send('ann@example.org', 'without')
  expect(hems()).toEqual([])
  await pixel.page.evaluate(`footfall('consent', 'granted')`)
  await send(' Ann@Example.org ', 'with')
  expect(hems()).toEqual([[createHash('sha256').update('ann@example.org').digest('hex'), 'form']])
  expect(JSON.stringify(pixel.receiver.state.received)).not.toMatch(/@example/i)
})

it('without the setting nothing is told of addresses in forms', async () => {
  await pixel.visit({ body: signUp })
  await pixel.page.waitForFunction('footfall.on')
  await pixel.page.fill('#join input', 'ann@example.org')
  await pixel.page.click('#join button')
  await pixel.events('form_submission', 1)
  await pixel.settled()
  expect(pixel.receiver.state.requests.filter((request) => /forms|identify/.test(request))).toEqual(
    [],
  )
  expect(JSON.stringify(pixel.receiver.state.received)).not.toMatch(/[0-9a-f]{64}|@example/i)
})

it('who looks for a fault sees every event, how it went, and why it was rejected; others load nothing', async () => {
  await pixel.visit()
  await pixel.events('page_view', 1)
  expect(pixel.receiver.state.requests).not.toContain('GET /p/debug.js')

  // The page's policy may forbid what would be easiest.
  const policy = `require-trusted-types-for 'script'; style-src 'none'`
  const head = `<meta http-equiv="Content-Security-Policy" content="${policy}">`
  await pixel.visit({ url: '/page?footfall_debug', head })
  await pixel.events('page_view', 2)
  expect(pixel.receiver.state.requests).toContain('GET /p/debug.js')
  const overlay = pixel.page.locator('div[data-footfall-ignore]')
  await overlay.getByText(/page .*200 accepted/).waitFor()
  expect(
    await pixel.page.evaluate(
      `getComputedStyle(document.querySelector('div[data-footfall-ignore]')).position`,
    ),
  ).toBe('fixed')
  pixel.receiver.state.statuses = [403]
  await pixel.page.evaluate(`footfall('track', 'refused')`)
  await overlay.getByText(/track refused .*403/).waitFor()
  await pixel.page.evaluate(`footfall('track', 'last')`)
  await pixel.hide()
  await overlay.getByText(/track last .*sent when the page closed/).waitFor()
  // The overlay itself is not tracked.
  await overlay.getByRole('button', { name: 'close' }).click()
  await pixel.settled()
  expect(pixel.receiver.events('click')).toEqual([])
})

it('localStorage asks for the overlay too, until it is closed', async () => {
  await pixel.visit()
  await pixel.page.evaluate(`localStorage.footfall_debug = 1`)
  await pixel.page.reload()
  const close = pixel.page.locator('div[data-footfall-ignore]').getByText('close')
  await close.click()
  expect(await pixel.page.evaluate(`'footfall_debug' in localStorage`)).toBe(false)
  expect(pixel.receiver.state.requests.filter((request) => request.includes(pixelId))).toHaveLength(
    2,
  )
})
