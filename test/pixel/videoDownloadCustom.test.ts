import { expect, it } from 'vitest'
import { usePixel } from './harness.ts'

const pixel = usePixel()

it('a video reports play, pause, quarters and its end', async () => {
  const samples = Buffer.alloc(8000 * 1.6, 128)
  const header = Buffer.from('RIFF____WAVEfmt ________________________data____')
  header.writeUInt32LE(36 + samples.length, 4)
  const format: [number, number][] = [
    [16, 16],
    [20, 65_537],
    [24, 8000],
    [28, 8000],
    [32, 524_289],
  ]
  const wav = Buffer.concat([header.subarray(0, 44), samples])
  for (const [at, value] of format) wav.writeUInt32LE(value, at)
  wav.write('data', 36)
  wav.writeUInt32LE(samples.length, 40)
  await pixel.visit({
    body: `<video title="Film" controls width="300" height="200"
      src="data:audio/wav;base64,${wav.toString('base64')}"></video>`,
  })
  await pixel.page.evaluate(`document.querySelector('video').play()`)
  await pixel.page.waitForFunction(`document.querySelector('video').currentTime > 0.1`)
  await pixel.page.evaluate(`document.querySelector('video').pause()`)
  await pixel.events('video', 2)
  await pixel.page.evaluate(`document.querySelector('video').play()`)
  const videos = await pixel.events('video', 7)
  // On a slow machine a quarter has passed before the pause.
  expect(videos.flatMap(({ action }) => (action === 'progress' ? [] : action))).toEqual([
    'play',
    'pause',
    'play',
    'ended',
  ])
  expect(videos.flatMap(({ action, percent }) => (action === 'progress' ? percent : []))).toEqual([
    25, 50, 75,
  ])
  expect(videos[6]).toMatchObject({ title: 'Film', percent: 100 })
  expect(videos[6]!.duration).toBeCloseTo(1.6, 1)
})

it('a click on a file or a download link is a download too', async () => {
  await pixel.visit({
    body: `<a id="file" href="/files/price%20list.PDF?v=2#p">Prices</a><a id="marked" download="a.bin" href="/x">X</a>
      <a id="odd" href="/100%.zip" target="_blank"><i>odd</i></a><a id="page" href="/about.html">About</a>
      <script>addEventListener('click', (event) => event.preventDefault())</script>`,
  })
  for (const id of ['file', 'marked', 'odd', 'page']) await pixel.page.click(`#${id}`)
  const downloads = await pixel.events('download', 3)
  await pixel.events('click', 4)
  const { pageOrigin } = pixel.receiver
  expect(downloads.map(({ href, filename, extension }) => ({ href, filename, extension }))).toEqual(
    [
      {
        href: `${pageOrigin}/files/price%20list.PDF?v=2#p`,
        filename: 'price list.PDF',
        extension: 'pdf',
      },
      { href: `${pageOrigin}/x`, filename: 'a.bin', extension: 'bin' },
      { href: `${pageOrigin}/100%.zip`, filename: '100%.zip', extension: 'zip' },
    ],
  )
})

it('elements send custom events of their own: on click, forms on submit', async () => {
  await pixel.visit({
    body: `<button data-footfall-event="plan" data-footfall-prop-name="pro" data-footfall-prop-price="9">
        <i>Choose</i></button>
      <form data-footfall-event="joined" onsubmit="return false"><input name="x"><button id="join">Join</button></form>`,
  })
  await pixel.page.click('i')
  await pixel.page.click('#join')
  const customs = await pixel.events('custom', 2)
  expect(customs[0]).toMatchObject({ name: 'plan', properties: { name: 'pro', price: '9' } })
  expect(customs[1]).toMatchObject({ name: 'joined', properties: {} })
})

it('track copies its properties at once; set goes under them; nonsense does no harm', async () => {
  await pixel.visit({
    head: `<script>window.footfall = function () { (footfall.q = footfall.q || []).push(arguments) }
      const stub = footfall
      footfall('set', { shop: 'nl', kind: 'common' })
      footfall('track', 'queued')</script>`,
  })
  await pixel.page.waitForFunction('footfall.on')
  await pixel.page.evaluate(`
    const cart = { kind: 'own', items: [1] }
    footfall('track', 'bought', cart)
    cart.items.push(2)
    const circle = {}
    circle.circle = circle
    footfall('track', 'circle', circle)
    footfall('track')
    footfall('nonsense')
    footfall()
    footfall('identify')
    stub('track', 'by the stub')
    footfall('page', { title: 'Step 2' })
    footfall('flush')`)
  const customs = await pixel.events('custom', 3)
  expect(customs.map(({ name, properties }) => [name, properties])).toEqual([
    ['queued', { shop: 'nl', kind: 'common' }],
    ['bought', { shop: 'nl', kind: 'own', items: [1] }],
    ['by the stub', { shop: 'nl', kind: 'common' }],
  ])
  const views = await pixel.events('page_view', 2)
  expect(views[1]).toMatchObject({ title: 'Step 2', url: `${pixel.receiver.pageOrigin}/page` })
})
