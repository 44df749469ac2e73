import { expect } from 'vitest'
import { waitFor } from '../../../harness/service.ts'
import { pixelId } from '../../receiver.ts'
import type { Case } from '../case.ts'
import type { Stage } from '../stage.ts'

const posts = (stage: Stage) =>
  stage.receiver.state.requests.filter((request) => request === 'POST /e').length
const scriptUrl = (stage: Stage, id = pixelId) => `${stage.receiver.collectorOrigin}/p/${id}.js`
/** As Prototype.js 1.6 has it. */
const prototypeJs = `<script>
  Array.prototype.toJSON = function () { return '[' + this.map((part) => JSON.stringify(part)).join(', ') + ']' }
  Date.prototype.toJSON = function () { return '"' + this.getUTCFullYear() + '"' }
</script>`

export const hostile: Case[] = [
  {
    name: 'a click 12,000 elements deep arrives, and takes no more than others',
    async run(stage) {
      stage.put('/page', { body: '<label for="deep">Agree</label>' })
      await stage.visit()
      await stage.tab.evaluate(`for (let n = 0, inside = document.body; n <= 12_000; n++) {
        const outside = inside
        inside = document.createElement(n === 12_000 ? 'input' : 'div')
        inside.hidden = true
        if (n === 12_000) Object.assign(inside, { id: 'deep', type: 'checkbox' })
        outside.append(inside)
      }`)
      await stage.tab.click('label')
      await stage.events('click', 1)
      const { received } = stage.receiver.state
      expect(Math.max(...received.map(({ bytes }) => bytes))).toBeLessThan(2000)
    },
  },
  {
    name: 'a page that gives arrays a toJSON of its own loses nothing',
    async run(stage) {
      stage.put('/page', { head: prototypeJs, body: '<button><b>Buy</b></button>' })
      await stage.visit()
      await stage.tab.click('b')
      await stage.tab.evaluate(`footfall('track', 'bought', { items: ['a', ['b']] })`)
      const [click] = await stage.events('click', 1)
      expect(click).toMatchObject({ elementText: 'Buy' })
      const [custom] = await stage.events('custom', 1)
      expect(custom).toMatchObject({ name: 'bought', properties: { items: ['a', ['b']] } })
      await stage.events('page_view', 1)
      // The page keeps what it has.
      expect(await stage.tab.evaluate(`Object.keys(Array.prototype).join()`)).toBe('toJSON')
    },
  },
  {
    name: 'a page that writes itself anew after it has loaded is listened to again, once',
    async run(stage) {
      stage.put('/page')
      await stage.visit()
      await stage.events('page_view', 1)
      await stage.tab.evaluate(`document.open()
        document.write('<title>new</title><button>Buy</button><script src="${scriptUrl(stage)}"><\\/script>')
        document.close()`)
      await stage.pageSays(
        `!!document.querySelector('button') && document.readyState === 'complete'`,
      )
      await stage.tab.click('button')
      await stage.events('click', 1)
      await stage.tab.evaluate(`history.pushState({}, '', '/route')`)
      await stage.events('page_view', 2)
      await stage.settled()
      expect(stage.receiver.events('click')).toHaveLength(1)
      expect(stage.receiver.events('page_view')).toHaveLength(2)
    },
  },
  {
    name: 'two pixels on one page: both get every event, and the calls from before either came',
    async run(stage) {
      const other = pixelId.replace('0b5f', '1c60')
      stage.put('/page', {
        head: `<script>${''}window.early = 1</script>`,
        body: '<button>Buy</button>',
      })
      await stage.visit()
      await stage.tab.evaluate(`footfall('track', 'between'); script = document.createElement('script')
        script.src = '${scriptUrl(stage, other)}'; document.head.append(script)`)
      await stage.pageSays(`!!footfall['footfall_${other}']`)
      await stage.tab.click('button')
      await stage.tab.evaluate(`footfall('track', 'after')`)
      const of = (id: string) =>
        stage.receiver.state.received
          .filter(({ beacon }) => beacon.pixel_id === id)
          .flatMap(({ beacon }) => beacon.events)
          .map(({ event_type, event_data }) => (event_data as { name?: string }).name ?? event_type)
          .filter((name) => name !== 'scroll_depth')
          .sort()
      const all = ['after', 'between', 'click', 'page_view']
      for (const id of [pixelId, other])
        await waitFor(`the events of ${id}`, () => of(id).length >= all.length)
      expect([of(pixelId), of(other)]).toEqual([all, all])
    },
  },
  {
    name: 'a URL of nine thousand characters costs its end, not its event',
    async run(stage) {
      stage.put('/page', { body: '<button>Buy</button>' })
      await stage.visit(`/page?long=${'x'.repeat(9000)}`)
      await stage.tab.click('button')
      const [view] = await stage.events('page_view', 1)
      expect(`${view!.url}`).toHaveLength(8192)
      await stage.events('click', 1)
    },
  },
  {
    name: 'a collector that the page’s policy blocks is asked after growing waits, and by the next page',
    async run(stage) {
      stage.put('/page', {
        head: `<meta http-equiv="Content-Security-Policy" content="connect-src 'self'"><script>
          asked = 0; const original = fetch; fetch = (...call) => { asked++; return original(...call) }</script>`,
      })
      await stage.visit()
      await stage.pageSays('asked === 2')
      for (let n = 0; n < 5; n++) {
        await stage.tab.evaluate(`footfall('track', 'blocked')`)
        await stage.rest(600)
      }
      expect(await stage.tab.evaluate('asked')).toBeLessThanOrEqual(3)
      expect(posts(stage)).toBe(0)
      // Nothing is lost: the next page, whose policy allows it, sends what waits.
      stage.put('/next')
      await stage.goto('/next')
      await stage.events('page_view', 2)
      await stage.events('custom', 5)
    },
  },
  {
    name: 'a connection that comes back sends at once',
    async run(stage) {
      stage.put('/page', {
        head: `<script>original = fetch; fetch = () => Promise.reject(new TypeError('offline'))</script>`,
      })
      await stage.visit()
      await stage.rest(2500)
      expect(posts(stage)).toBe(0)
      await stage.tab.evaluate(`fetch = original; dispatchEvent(new Event('online'))`)
      await waitFor('the events', () => stage.receiver.events('page_view').length === 1, 1000)
    },
  },
]
