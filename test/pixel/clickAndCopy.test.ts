import { expect, it } from 'vitest'
import { loadCapture, usePixel } from './harness.ts'

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
    element: {
      ariaLabel: 'Add to cart',
      className: 'big red',
      tagName: 'BUTTON',
      id: null,
      href: null,
    },
    elementIdentifier: 'button[aria-label="Add to cart"]',
    elementText: 'Buy now',
    coordinates: { x: expect.any(Number), y: expect.any(Number) },
  })
  expect(paragraph).toMatchObject({
    element: { ariaLabel: null, className: '' },
    elementText: '',
  })
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
    '',
    '***',
    '',
    '',
    '***',
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
  await loadCapture(pixel.page)
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
