/** The studio: a small application of its own, whose steps are routes made with history.pushState. */
import { drawPot, glazes, potNamed, pots } from './pots.js'

const root = '/demo/studio'
const chosen = { shape: 'mug', glaze: 'moss' }

const stage = document.querySelector('[data-studio-step]')
const drawing = document.querySelector('[data-studio-pot]')

const choice = (label, value, key, swatch) => {
  const button = document.createElement('button')
  button.type = 'button'
  button.setAttribute('aria-pressed', chosen[key] === value)
  if (swatch) button.innerHTML = `<span class="swatch glaze-${value}"></span>`
  button.append(label)
  button.addEventListener('click', () => {
    chosen[key] = value
    for (const other of button.parentElement.children)
      other.setAttribute('aria-pressed', other === button)
    draw()
  })
  return button
}

const draw = () => {
  drawPot(drawing, chosen.shape, chosen.glaze)
  drawing.setAttribute('aria-label', `Your pot: ${potNamed(chosen.shape).name}, ${chosen.glaze}`)
}

const choicesOf = (buttons) => {
  const group = document.createElement('div')
  group.className = 'choices'
  group.append(...buttons)
  return group
}

const link = (step, text) => {
  const made = document.createElement('a')
  made.className = 'button'
  made.href = step ? `${root}/${step}` : root
  made.textContent = text
  return made
}

/** Route → title and content. */
const routes = {
  '': {
    title: 'Choose a shape',
    content: () => [
      choicesOf(pots.map(({ id, name }) => choice(name, id, 'shape'))),
      link('glaze', 'Next: the glaze'),
    ],
  },
  glaze: {
    title: 'Choose a glaze',
    content: () => [
      choicesOf(glazes.map((glaze) => choice(glaze, glaze, 'glaze', true))),
      link('finish', 'Next: finish'),
    ],
  },
  finish: {
    title: 'Your pot',
    content: () => {
      const text = document.createElement('p')
      text.textContent = `${potNamed(chosen.shape).name} in ${chosen.glaze}. It would be thrown, fired and sent in three weeks.`
      return [text, link('', 'Start again')]
    },
  },
}

const stepOf = (path) => path.slice(root.length + 1).replace(/\/$/, '')

const show = () => {
  const step = stepOf(location.pathname)
  const { title, content } = routes[step] ?? routes['']
  document.title = `${title} · Studio · Kiln Lane`
  const heading = document.createElement('h2')
  heading.textContent = title
  stage.replaceChildren(heading, ...content())
  for (const link of document.querySelectorAll('[data-step]')) {
    if (link.dataset.step === step) link.setAttribute('aria-current', 'step')
    else link.removeAttribute('aria-current')
  }
  draw()
}

addEventListener('click', (event) => {
  const link = event.target.closest('a')
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey
  if (!isPlain || !link?.closest('.studio, .stepper')) return
  event.preventDefault()
  if (link.pathname === location.pathname) return
  history.pushState(null, '', link.href)
  show()
  stage.focus({ preventScroll: true })
})
addEventListener('popstate', show)
show()
