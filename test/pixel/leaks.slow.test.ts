import { expect, it } from 'vitest'
import { usePixel } from './harness.ts'

const pixel = usePixel()

/** Runs in the page: builds forms and fields of every kind at random, fills them, and uses them as visitors do. */
const fuzz = `async (seed, count) => {
  let state = seed
  const random = (most) => (state = (state * 1103515245 + 12345) % 2147483648) % most
  const pick = (list) => list[random(list.length)]
  const types = ['text', 'email', 'tel', 'url', 'search', 'number', 'password', 'hidden', 'date', 'color',
    'checkbox', 'radio', 'file', 'range', 'submit', 'odd', '']
  const names = ['a', 'id', 'name', 'action', 'method', 'elements', 'submit', 'length', 'className', 'parentNode',
    'attributes', 'card', 'toString', '__proto__', '']
  const fills = [
    (field, value) => { field.value = value },
    (field, value) => { field.setAttribute('value', value) },
    (field, value) => { field.defaultValue = value },
  ]
  const field = (value) => {
    const kind = random(10)
    if (kind === 0) return Object.assign(document.createElement('textarea'), { value })
    if (kind === 1) {
      const select = document.createElement('select')
      select.append(new Option(value, value), new Option('other ' + value, value))
      return select
    }
    if (kind === 2) {
      const editor = document.createElement('div')
      editor.setAttribute('contenteditable', pick(['', 'true', 'plaintext-only']))
      editor.append(value)
      return editor
    }
    const input = document.createElement('input')
    const type = pick(types)
    if (type) input.setAttribute('type', type)
    // Labels of buttons are for everyone to read.
    if (type !== 'submit' && type !== 'file') pick(fills)(input, value)
    return input
  }
  for (let n = 0; n < count; n++) {
    const form = document.createElement('form')
    if (random(2)) form.setAttribute('method', pick(['get', 'post', 'dialog', 'odd']))
    for (let fields = 1 + random(5); fields; fields--) {
      const element = field('leak' + (seed + n) + 'x' + fields)
      if (random(4)) element.setAttribute('name', pick(names))
      if (random(6) === 0) element.setAttribute('autocomplete', pick(['cc-number', 'one-time-code', 'off']))
      if (random(6) === 0) element.setAttribute('aria-label', 'a label')
      pick([form, form.appendChild(document.createElement('label'))]).append(element)
    }
    document.body.append(form)
    const parts = form.querySelectorAll('*')
    form.onsubmit = () => false
    for (let clicks = random(3); clicks; clicks--) {
      pick(parts).dispatchEvent(new MouseEvent('click', { bubbles: true, composed: true, cancelable: true }))
    }
    getSelection().selectAllChildren(pick(parts))
    pick(parts).dispatchEvent(new Event('copy', { bubbles: true, composed: true }))
    form.dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }))
    form.remove()
    if (n % 40 === 39) {
      footfall('flush')
      await new Promise((later) => setTimeout(later, 20))
    }
  }
}`

it('ten thousand forms at random: no value of a field ever leaves', async () => {
  await pixel.visit()
  await pixel.page.waitForFunction('footfall.on')
  let count = 0
  // Few at a time: a page that captures faster than it can send drops what is oldest.
  for (let round = 0; round < 40; round++) {
    await pixel.page.evaluate(`(${fuzz})(${round * 10_000}, 250)`)
    await pixel.settled(`round ${round}`)
    count = pixel.receiver.events('form_submission').length
  }
  const sent = JSON.stringify(pixel.receiver.state.received)
  const searched = pixel.receiver.events('search').map(({ event_data }) => event_data.query)
  // A search event contains search terms from fields of type search, and nothing else.
  const withoutSearches = searched.reduce(
    (text, query) => text.replaceAll(JSON.stringify(query), '""'),
    sent,
  )
  expect(withoutSearches.match(/.{80}leak\d+x\d.{20}/)).toBeNull()
  expect(count).toBeGreaterThan(9_500)
}, 600_000)
