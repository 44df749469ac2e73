import { expect } from 'vitest'
import { waitFor } from '../../../harness/service.ts'
import { pixelId } from '../../receiver.ts'
import type { Case } from '../case.ts'
import type { Stage } from '../stage.ts'

const textsOf = (clicks: Record<string, unknown>[]) => clicks.map(({ elementText }) => elementText)
const paths = (views: Record<string, unknown>[]) =>
  views.map(({ url }) => new URL(url as string).pathname)

/** Pages whose own constants have the names of globals. */
const hidden: Record<string, string> = {
  URL: 'const URL = "https://api.shop.example/"',
  history: 'let history = ["1+1=2"]',
  fetch: 'const fetch = (u) => ({ then(){} })',
  'names of the script':
    'class Blob {}; const Math = null, navigator = {}, screen = [], crypto = 0, localStorage = 7, Reflect = {}',
  JSON: 'const JSON = 1, Date = 2',
}

async function seeMoves(stage: Stage) {
  await stage.tab.click('button')
  await stage.tab.evaluate(`window.history.pushState({}, '', '/route')`)
  const views = await stage.events('page_view', 2)
  expect(paths(views)).toEqual(['/page', '/route'])
  await stage.events('click', 1)
}

export const everybody: Case[] = [
  ...Object.entries(hidden).map(
    ([name, script]): Case => ({
      name: `a page with its own constant for ${name} has its view, click and route`,
      ...(name === 'JSON' && {
        unsupported: { webkit: 'has a driver that needs the page’s JSON' },
      }),
      async run(stage) {
        stage.put('/page', {
          head: `<script>${script}; errors = []; window.addEventListener('error', ({ message }) => errors.push(message))</script>`,
          body: '<button>Buy</button>',
        })
        await stage.visit()
        await seeMoves(stage)
        expect(await stage.tab.evaluate('errors.join()')).toBe('')
        if (name === 'history')
          expect(await stage.tab.evaluate('Object.keys(history).join()')).toBe('0')
      },
    }),
  ),
  {
    name: 'the text of parts that are no control is not read',
    async run(stage) {
      stage.put('/page', {
        body: `<main style="height: 300px"><p id="p">Ann Example, born 1 May 1980</p>
          <table><tr id="row"><td>Ann</td><td>ann@x.example</td></tr></table></main>`,
      })
      await stage.visit()
      for (const selector of ['main', '#p', '#row td']) await stage.tab.click(selector)
      expect(textsOf(await stage.events('click', 3))).toEqual(['', '', ''])
      expect(JSON.stringify(stage.receiver.state.received)).not.toContain('Ann')
    },
  },
  {
    name: 'the text of a control is what people see: of its blocks, and no code',
    async run(stage) {
      stage.put('/page', {
        body: `<button id="styled"><style>b { color: red }</style><svg width="9" height="9"><title>cart</title></svg>Buy now<script>var x = 1</script></button>
          <a id="card" href="#"><h3>Blue mug</h3><p>From clay</p></a>`,
      })
      await stage.visit()
      for (const id of ['styled', 'card h3']) await stage.tab.click(`#${id}`)
      expect(textsOf(await stage.events('click', 2))).toEqual(['Buy now', 'Blue mug From clay'])
    },
  },
  {
    name: 'the text of a control inside a component is that of its slots',
    unsupported: { webkit: 'has a driver that clicks nothing in a slot' },
    async run(stage) {
      stage.put('/page', {
        body: `<x-button id="slotted">Add to cart</x-button><x-button id="inner"><span>Pay <b>later</b></span></x-button>
          <script>customElements.define('x-button', class extends HTMLElement {
            constructor() { super(); this.attachShadow({ mode: 'open' }).innerHTML = '<button><slot></slot></button>' } })</script>`,
      })
      await stage.visit()
      for (const id of ['slotted', 'inner span']) await stage.tab.click(`#${id}`)
      expect(textsOf(await stage.events('click', 2))).toEqual(['Add to cart', 'Pay later'])
    },
  },
  {
    name: 'the content of a data: link is neither sent nor stored',
    async run(stage) {
      stage.put('/page', {
        body: `<a download="x.csv" href="data:text/csv;charset=utf-8,${'a'.repeat(300_000)}">Save</a>`,
      })
      await stage.visit()
      await stage.tab.click('a')
      const [click] = await stage.events('click', 1)
      expect((click!.element as { href: string }).href).toBe('data:text/csv')
      expect(Math.max(...stage.receiver.state.received.map(({ bytes }) => bytes))).toBeLessThan(
        5_000,
      )
    },
  },
  {
    name: 'a collector that is away for seconds gets the events while the page stays in front',
    async run(stage) {
      stage.put('/page', {
        head: `<script>away = true; const own = window.fetch
          window.fetch = (...call) => away ? Promise.reject(new TypeError('no CORS')) : own(...call)</script>`,
      })
      await stage.visit()
      await stage.tab.evaluate(`for (let n = 0; n < 700; n++) footfall('track', 'n' + n)
        setTimeout(() => { away = false }, 4000)`)
      await stage.events('custom', 700)
    },
  },
  {
    name: 'what waits keeps within a size: the storage of the site stays usable',
    async run(stage) {
      stage.put('/page')
      stage.receiver.state.statuses = Array(500).fill(503)
      await stage.visit()
      await stage.tab.evaluate(
        `for (let n = 0; n < 340; n++) footfall('track', 'n' + n, { text: 'x'.repeat(15_000) })`,
      )
      await stage.pageSays(`'footfall_${pixelId}' in localStorage`)
      await stage.rest(1500)
      expect(
        await stage.tab.evaluate(
          `Math.max(0, ...Object.values(localStorage).map((text) => text.length))`,
        ),
      ).toBeLessThan(250_000)
    },
  },
  {
    name: 'routes of the Navigation API are counted once',
    unsupported: { firefox: 'may lack the API', webkit: 'may lack the API' },
    async run(stage) {
      stage.put('/page', {
        body: `<a href="/next">Next</a><script>
          navigation.addEventListener('navigate', (event) => event.intercept({ handler: async () => {} }))</script>`,
      })
      await stage.visit()
      await stage.tab.click('a')
      await stage.events('page_view', 2)
      await stage.settled()
      expect(paths(await stage.events('page_view', 2))).toEqual(['/page', '/next'])
    },
  },
  {
    name: 'scrolling of a dialog over a held page is no depth of the page',
    async run(stage) {
      stage.put('/page', {
        body: `<style>body { position: fixed; inset: 0 } #over { position: fixed; inset: 0; overflow: auto; background: #fff }</style>
          <div style="height: 4000px">Page</div><div id="over"><div style="height: 5000px">Dialog</div></div>`,
      })
      await stage.visit()
      await stage.events('page_view', 1)
      await stage.tab.evaluate(`document.querySelector('#over').scrollTo(0, 4900)`)
      await stage.rest(1200)
      await stage.settled()
      expect(stage.receiver.events('scroll_depth')).toEqual([])
    },
  },
  {
    name: 'where nothing keeps an id, none is sent',
    async run(stage) {
      stage.put('/page', {
        head: `<script>Object.defineProperty(document, 'cookie', { get: () => '', set() {} })
          Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('denied', 'SecurityError') } })</script>`,
      })
      await stage.visit()
      await stage.events('page_view', 1)
      await stage.settled()
      const ids = stage.receiver.state.received.map(({ beacon }) => beacon.cookie_id)
      // The receiver reads null as absent.
      expect(new Set(ids)).toEqual(new Set([undefined]))
    },
  },
  {
    name: 'a click and a copy beside 20,000 fields keep the page responsive',
    async run(stage) {
      stage.put('/page', { body: '<p id="text">Some text</p><div id="fields"></div>' })
      await stage.visit()
      await stage.tab.evaluate(`document.querySelector('#fields').innerHTML = '<input>'.repeat(20_000)
        tasks = []
        new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' })
        getSelection().selectAllChildren(document.querySelector('#text'))`)
      await stage.tab.press('Control+C')
      const [copied] = await stage.events('copy', 1)
      // Too many fields to compare: masked.
      expect(copied).toMatchObject({ text: '***', textLength: 9 })
    },
  },
  {
    name: 'ids are not made of the page’s randomness',
    async run(stage) {
      stage.put('/page', {
        head: '<script>Math.random = () => 0.5; Date.now = () => 1764288000000</script>',
      })
      await stage.visit()
      await stage.tab.evaluate(`footfall('track', 'a'); footfall('track', 'b')`)
      await stage.events('custom', 2)
      const ids = stage.receiver.events('custom').map(({ event_id }) => event_id)
      expect(new Set(ids).size).toBe(2)
    },
  },
  {
    name: 'a script’s clicks, a label’s second click and hidden frames are nobody’s events',
    async run(stage) {
      stage.put('/page', {
        body: `<button id="own">Own</button><label id="label"><input type="checkbox"> Agree</label>
          <iframe src="/inside" style="display: none"></iframe>`,
      })
      stage.put('/inside')
      await stage.visit()
      await stage.tab.evaluate(`for (let n = 0; n < 5; n++) document.querySelector('#own').click()`)
      await stage.tab.click('#label')
      await stage.tab.click('#own')
      await waitFor('both clicks', () => stage.receiver.events('click').length >= 2)
      await stage.settled()
      expect(stage.receiver.events('click')).toHaveLength(2)
      expect(paths(await stage.events('page_view', 1))).toEqual(['/page'])
    },
  },
]
