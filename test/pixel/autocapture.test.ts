import { expect, it } from 'vitest'
import { usePixel } from './harness.ts'

const pixel = usePixel()

it('links that leave the site, dial or write are marked', async () => {
  await pixel.visit({
    body: `<a id="out" href="https://other.example/">out</a><a id="tel" href="tel:+31201234567">call</a>
      <a id="mail" href="mailto:shop@example.test">write</a><a id="in" href="/about">about</a>
      <script>addEventListener('click', (event) => event.preventDefault())</script>`,
  })
  for (const id of ['out', 'tel', 'mail', 'in']) await pixel.page.click(`#${id}`)
  const clicks = await pixel.events('click', 4)
  expect(clicks.map(({ link }) => link)).toEqual(['outbound', 'tel', 'mailto', undefined])
})

it('what is clicked inside shadow roots is named, and its link and mark are found outside of it', async () => {
  await pixel.visit({
    body: `<a href="/files/guide.pdf" data-footfall-event="guide"><x-icon></x-icon></a>
      <script>
        customElements.define('x-icon', class extends HTMLElement {
          constructor() { super(); this.attachShadow({ mode: 'open' }).innerHTML = '<b data-testid="icon">i</b>' }
        })
        addEventListener('click', (event) => event.preventDefault())
      </script>`,
  })
  await pixel.page.click('b')
  const [click] = await pixel.events('click', 1)
  expect(click).toMatchObject({ elementIdentifier: 'html>body>a' })
  const [download] = await pixel.events('download', 1)
  expect(download).toMatchObject({ filename: 'guide.pdf' })
  const [custom] = await pixel.events('custom', 1)
  expect(custom).toMatchObject({ name: 'guide' })
})

it('names of elements: roles and labels, fields by their names, never a generated class', async () => {
  await pixel.visit({
    body: `<div role="tab" aria-label="Reviews" class="css-1q2w3e">x</div><div role="button" class="sc-a1">y</div>
      <input name="city"><input type="submit" value="Send it"><button data-qa="go">z</button>`,
  })
  for (const selector of [
    '[role=tab]',
    '[role=button]',
    '[name=city]',
    '[type=submit]',
    '[data-qa]',
  ])
    await pixel.page.click(selector)
  const clicks = await pixel.events('click', 5)
  expect(
    clicks.map(({ elementIdentifier, elementText }) => [elementIdentifier, elementText]),
  ).toEqual([
    ['[role=tab][aria-label=Reviews]', 'x'],
    ['html>body>div:nth-of-type(2)', 'y'],
    ['input[name=city]', ''],
    ['html>body>input:nth-of-type(2)', 'Send it'],
    ['[data-qa=go]', 'z'],
  ])
})

it('a click on a large part of the page carries no text', async () => {
  await pixel.visit({ body: `<main style="padding:50px">${'<p>text</p>'.repeat(200)}</main>` })
  await pixel.page.mouse.click(20, 20)
  const [click] = await pixel.events('click', 1)
  expect(click).toMatchObject({ element: { tagName: 'MAIN' }, elementText: '' })
})

it('requestSubmit and forms that scripts handle are submissions, once each', async () => {
  await pixel.visit({
    body: `<form id="scripted" onsubmit="event.preventDefault(); fetch('/somewhere')"><input name="a"></form>
      <button id="ask" onclick="scripted.requestSubmit()">ask</button>`,
  })
  await pixel.page.click('#ask')
  await pixel.page.press('[name=a]', 'Enter')
  const submissions = await pixel.events('form_submission', 2)
  expect(submissions.map(({ fields }) => fields)).toEqual([['a'], ['a']])
})

it('a masked search says that there was one', async () => {
  await pixel.visit({
    body: `<form onsubmit="return false"><input type="search" name="term" data-footfall-mask value="private"></form>`,
  })
  await pixel.page.press('input', 'Enter')
  const [search] = await pixel.events('search', 1)
  expect(search).toMatchObject({ query: '***' })
})
