import { expect, it } from 'vitest'
import { usePixel } from './harness.ts'

const pixel = usePixel()

it('a click tells what was clicked, where, and its text', async () => {
  await pixel.visit({
    body: `<main><p>Text</p><button class="big red" aria-label="Add to cart"><b>Buy</b>
      <svg class="icon" width="40" height="40"><rect width="40" height="40"/></svg> now</button></main>`,
  })
  await pixel.page.click('rect')
  await pixel.page.click('p')
  const [button, paragraph] = await pixel.events('click', 2)
  expect(button).toMatchObject({
    element: { ariaLabel: 'Add to cart', className: 'big red', tagName: 'BUTTON', id: null, href: null },
    elementIdentifier: 'html>body>main>button',
    elementText: 'Buy now',
    coordinates: { x: expect.any(Number), y: expect.any(Number) },
  })
  expect(paragraph).toMatchObject({ element: { ariaLabel: null, className: '' }, elementText: 'Text' })
})

it('clicks name elements by their ids and test ids, unless those look generated', async () => {
  await pixel.visit({
    body: `<ul id="menu"><li><a href="#">one</a></li><li><a href="#">two</a></li></ul>
      <button data-testid="buy">buy</button><section id="r-48213"><button>x</button></section>
      <svg id="drawing" class="shape" width="40" height="40"><rect width="40" height="40"/></svg>
      <form id="signup"><input name="id"><input name="className"><i>form</i></form>`,
  })
  for (const selector of ['li:last-child a', '[data-testid]', 'section button', 'rect', 'form i']) {
    await pixel.page.click(selector)
  }
  const clicks = await pixel.events('click', 5)
  expect(clicks.map(({ elementIdentifier }) => elementIdentifier)).toEqual([
    '#menu>li:nth-of-type(2)>a',
    '[data-testid=buy]',
    'html>body>section>button',
    '#drawing>rect',
    '#signup>i',
  ])
})

it('cut and masked text, silence where the page asks', async () => {
  await pixel.visit({
    settings: { text_length_max: 10 },
    body: `<button id="long">${'😀'.repeat(9)}</button>
      <div id="part">Mail <span data-footfall-mask>ann@x.org</span></div>
      <button id="all" data-footfall-mask aria-label="ann@x.org">ann@x.org</button>
      <div data-footfall-ignore><button id="none">secret</button></div>
      <textarea id="typed">private</textarea><input id="input" value="private">
      <div id="editor" contenteditable>private</div>`,
  })
  for (const id of ['long', 'part', 'all', 'none', 'typed', 'input', 'editor'])
    await pixel.page.click(`#${id}`)
  const clicks = await pixel.events('click', 6)
  expect(clicks.map(({ elementText }) => elementText)).toEqual([
    '😀'.repeat(5),
    'Mail ***',
    '***',
    '',
    '',
    '',
  ])
  const sent = JSON.stringify(pixel.receiver.state.received)
  for (const secret of ['ann@x.org', 'secret', 'private']) expect(sent).not.toContain(secret)
})

it('clicks inside an open shadow root, and clicks whose handler removes the element', async () => {
  await pixel.visit({
    body: `<div id="host" data-footfall-mask></div><button id="gone" onclick="this.remove()">Remove</button>
      <script>host.attachShadow({ mode: 'open' }).innerHTML = '<button id="inner">ann@x.org</button>'</script>`,
  })
  await pixel.page.click('#inner')
  await pixel.page.click('#gone')
  const clicks = await pixel.events('click', 2)
  expect(clicks.map((click) => [click.elementIdentifier, click.elementText])).toEqual([
    ['#inner', '***'],
    ['#gone', 'Remove'],
  ])
})

it('a copy carries the text and its whole length; stars over masked parts and what people wrote', async () => {
  await pixel.visit({
    settings: { text_length_max: 5 },
    body: `<p id="plain">copied text</p><p id="mixed">mail <span data-footfall-mask>ann@x.org</span></p>
      <p id="ignored" data-footfall-ignore>ignored</p><input id="typed" value="private">`,
  })
  for (const id of ['plain', 'mixed', 'ignored']) {
    await pixel.page.evaluate(`getSelection().selectAllChildren(${id})`)
    await pixel.page.keyboard.press('Control+c')
  }
  await pixel.page.focus('#typed')
  await pixel.page.keyboard.press('Control+a')
  await pixel.page.keyboard.press('Control+c')
  const copies = await pixel.events('copy', 3)
  expect(copies.map(({ text, textLength }) => [text, textLength])).toEqual([
    ['copie', 11],
    ['***', 14],
    ['***', 7],
  ])
})

it('a form submission names its fields, never a value', async () => {
  await pixel.visit({
    body: `<form id="join" name="joining" method="POST" action="/join" onsubmit="return false">
      <input name="email" value="ann@x.org"><input name="action" value="shadow"><input name="elements">
      <input type="radio" name="plan" value="a" checked><input type="radio" name="plan" value="b">
      <input type="password" name="password" value="hunter2"><input type="hidden" name="csrf" value="token9">
      <input name="card" autocomplete="cc-number" value="4242"><select name="country"><option>NL</select>
      <input name="quiet" data-footfall-ignore value="hush"><button>Join</button></form>
      <input form="join" name="outside" value="apart">`,
  })
  await pixel.page.click('button')
  const [submission] = await pixel.events('form_submission', 1)
  expect(submission).toMatchObject({
    form: { id: 'join', name: 'joining', action: `${pixel.receiver.pageOrigin}/join`, method: 'post' },
    fields: ['email', 'action', 'elements', 'plan', 'country', 'outside'],
  })
  const sent = JSON.stringify(pixel.receiver.state.received)
  for (const value of ['ann@x.org', 'hunter2', 'token9', '4242', 'hush', 'apart', 'shadow']) {
    expect(sent).not.toContain(value)
  }
})

it('a search form that leads to a results page counts once, with the number of results', async () => {
  pixel.put({ path: '/found', body: '<p data-footfall-results="12">12 results</p>' })
  await pixel.visit({ body: '<form action="/found"><input type="search" name="q"></form>' })
  await pixel.page.fill('input', ' red shoes ')
  await pixel.page.press('input', 'Enter')
  const searches = await pixel.events('search', 1)
  await pixel.settled()
  await pixel.events('search', 1)
  expect(searches[0]).toMatchObject({ query: 'red shoes', results_count: 12 })
  expect(new URL(searches[0]!.url).pathname).toBe('/found')
})

it('a search form the page handles itself counts once, whether or not the URL follows', async () => {
  await pixel.visit({
    body: `<form id="ajax" onsubmit="return false"><input name="q" value="one"><button>1</button></form>
      <form id="spa" onsubmit="history.pushState({}, '', '?q=two'); return false">
        <input name="q" value="two"><button>2</button></form>
      <form id="post" method="post" onsubmit="return false">
        <input type="search" name="words" value="three"><button>3</button></form>`,
  })
  for (const id of ['ajax', 'spa', 'post']) await pixel.page.click(`#${id} button`)
  const searches = await pixel.events('search', 3)
  expect(searches.map(({ query, results_count }) => [query, results_count])).toEqual([
    ['one', null],
    ['two', null],
    ['three', null],
  ])
  await pixel.settled()
  await pixel.events('search', 3)
})

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
  expect(videos.map(({ action, percent }) => (action === 'progress' ? percent : action))).toEqual([
    'play',
    'pause',
    'play',
    25,
    50,
    75,
    'ended',
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
  expect(downloads.map(({ href, filename, extension }) => ({ href, filename, extension }))).toEqual([
    { href: `${pageOrigin}/files/price%20list.PDF?v=2#p`, filename: 'price list.PDF', extension: 'pdf' },
    { href: `${pageOrigin}/x`, filename: 'a.bin', extension: 'bin' },
    { href: `${pageOrigin}/100%.zip`, filename: '100%.zip', extension: 'zip' },
  ])
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
