import { expect } from 'vitest'
import type { Case } from '../case.ts'
import type { Stage } from '../stage.ts'

/** Longer than a click waits for an answer. */
const judgedAfterMs = 3300

/** Between the clicks of a person's double click. */
const personsMs = 150

async function open(stage: Stage, body: string) {
  stage.set({ frustration: true })
  stage.put('/page', {
    body: `<style>
      button, canvas, .pad { display: block; width: 120px; height: 24px }
      p { width: 120px; margin: 0; line-height: 48px }
    </style>${body}`,
  })
  await stage.visit()
  // The chunk works when it has replaced this function, as its last step.
  await stage.pageSays(`!/native code/.test(window.open)`)
  await stage.tab.evaluate(`clicked = tried = 0; tooSlow = []
    addEventListener('click', ({ detail }) => { clicked = detail }, true)`)
}

/** Paragraphs to select in, one for each time: further apart than the clicks of one place, and all in the window. */
const words = Array.from({ length: 10 }, (_, n) => `<p id="words${n}">some words</p>`).join('')

/**
 * Clicks into one paragraph after the other until the browser detects a double or a triple click. A busy
 * driver's clicks may be too slow for one. Then they select nothing, and their report is right.
 */
async function select(stage: Stage, count: number, betweenMs?: number) {
  for (;;) {
    const id = `words${await stage.tab.evaluate('tried++')}`
    await stage.tab.click(`#${id}`, count, betweenMs)
    if (await stage.tab.evaluate(`clicked >= ${count}`)) return
    await stage.tab.evaluate(`tooSlow.push('#${id}')`)
  }
}

/**
 * Reported clicks on the page: the name of the event and the clicked element. Omits clicks that `select` gave
 * up.
 */
async function told(stage: Stage): Promise<string[]> {
  await stage.rest(judgedAfterMs)
  await stage.settled()
  const tooSlow = await stage.tab.evaluate<string[]>('window.tooSlow ?? []')
  return stage.receiver
    .events('custom')
    .filter(({ event_data }) => /_click$/.test(`${event_data.name}`))
    .filter(({ event_data }) => !tooSlow.includes(`${event_data.properties.elementIdentifier}`))
    .map(({ event_data }) => `${event_data.name} ${event_data.properties.elementIdentifier}`)
    .sort()
}

/** Buttons that answer in ways that a look at the document's children misses. */
const answering = `
  <button id="dead">dead</button>
  <button id="late" onclick="setTimeout(() => { this.firstChild.data = 'answer' }, 2000)">late</button>
  <button id="pops" popovertarget="popped">popover</button><div id="popped" popover>popped</div>
  <button id="tracked" onclick="footfall('track', 'own')">tracked</button>
  <button id="blocks" onclick="for (const end = Date.now() + 400; Date.now() < end;);">blocks</button>
  <button id="copies" onclick="document.execCommand('copy')">copies</button>
  <div id="host" class="pad"></div><canvas id="canvas"></canvas><div id="editor" class="pad" contenteditable>text</div>
  <script>
    host.attachShadow({ mode: 'open' }).innerHTML = '<button style="width:120px">shadow</button>'
    host.shadowRoot.querySelector('button').onclick = function () { this.append('!') }
  </script>`

export const frustration: Case[] = [
  {
    name: 'a click that nothing answers is dead; late, hidden and other answers are answers',
    async run(stage) {
      await open(stage, answering)
      for (const id of [
        'late',
        'pops',
        'tracked',
        'blocks',
        'copies',
        'host',
        'canvas',
        'editor',
        'dead',
      ]) {
        await stage.tab.click(`#${id}`)
        // Each is alone: no answer is another's.
        await stage.rest(id === 'late' ? 2600 : 1100)
        await stage.tab
          .evaluate(`document.querySelector('#popped').hidePopover?.()`)
          .catch(() => {})
      }
      expect(await told(stage)).toEqual(['dead_click #dead'])
    },
  },
  {
    name: 'a click with a modifier key, and one that selects, are not dead',
    async run(stage) {
      await open(stage, `<button id="modified">modified</button>${words}`)
      for (const key of ['Control', 'Shift'] as const)
        await stage.tab.clickHolding(key, '#modified')
      await stage.events('click', 2)
      await select(stage, 2, personsMs)
      await select(stage, 2)
      expect(await told(stage)).toEqual([])
    },
  },
  {
    name: 'a click that opens another window is not dead',
    async run(stage) {
      stage.put('/other', { pixel: false })
      await open(
        stage,
        `<button id="opens" onclick="opened = window.open('/other')">opens</button>`,
      )
      await stage.tab.click('#opens')
      await stage.pageSays('!!opened')
      expect(await told(stage)).toEqual([])
    },
  },
  {
    name: 'a click that a dialog answers is not dead',
    async run(stage) {
      await open(stage, `<button id="asks" onclick="alert('Saved')">asks</button>`)
      const clicked = stage.tab.click('#asks')
      await stage.rest(500)
      await stage.tab.closeDialog()
      await clicked
      expect(await told(stage)).toEqual([])
    },
  },
  {
    name: 'three quick clicks at one place are rage, told once; slow ones, others and steppers are not',
    async run(stage) {
      await open(
        stage,
        `<button id="rage" onclick="this.title += 1">rage</button>
        <button id="plus" onclick="this.title += 1">+</button>
        <button id="next" onclick="this.title += 1" aria-label="Next">icon</button>
        <input id="number" type="number">${words}
        <button id="slow" onclick="this.title += 1">slow</button>`,
      )
      // All five in one command: a busy driver's clicks come one by one, and slowly.
      for (const id of ['rage', 'plus', 'next', 'number']) await stage.tab.click(`#${id}`, 5)
      for (let n = 0; n < 3; n++) {
        await stage.rest(1100)
        await stage.tab.click('#slow')
      }
      await select(stage, 3)
      expect(await told(stage)).toEqual(['rage_click #rage'])
    },
  },
  {
    name: 'without the setting nothing judges clicks, and nothing more is loaded',
    async run(stage) {
      stage.put('/page', { body: '<button>Buy</button>' })
      await stage.visit()
      for (let n = 0; n < 4; n++) await stage.tab.click('button')
      await stage.events('click', 4)
      expect(await told(stage)).toEqual([])
      expect(
        stage.receiver.state.requests.filter((request) => request.startsWith('GET')),
      ).toHaveLength(1)
    },
  },
]
