import { expect } from 'vitest'
import { pixelId } from '../../receiver.ts'
import type { Case } from '../case.ts'
import { departures, measureDelivery } from '../departures.ts'

/** How often each way of leaving is tried here; the benchmark tries each two hundred times. */
const repetitions = 3

const names = (received: Record<string, unknown>[]) =>
  received.map(({ name }) => name as string).sort()

export const delivery: Case[] = [
  ...departures.map(
    (departure): Case => ({
      name: `what a page captured just before it goes (${departure}) arrives, however slow the collector`,
      async run(stage) {
        const { arrived, left } = await measureDelivery(stage, departure, repetitions)
        expect(arrived).toEqual(left)
      },
    }),
  ),
  {
    name: 'a dialog that is open while a beacon is due costs nothing, and nothing is told twice',
    async run(stage) {
      stage.put('/page', { body: `<button onclick="alert('Saved')">Save</button>` })
      await stage.visit()
      await stage.events('page_view', 1)
      const clicked = stage.tab.click('button')
      // Longer than a click waits to be sent.
      await stage.rest(1500)
      await stage.tab.closeDialog()
      await clicked
      await stage.events('click', 1)
      await stage.settled()
      expect(stage.receiver.events('click')).toHaveLength(1)
    },
  },
  {
    name: 'a burst of 5 × 30 KB and one of 30 × 3 KB arrive whole',
    async run(stage) {
      stage.put('/page')
      await stage.visit()
      await stage.tab.evaluate(`
        for (let n = 0; n < 5; n++) footfall('track', 'big' + n, { text: 'é'.repeat(15_000) })`)
      await stage.events('custom', 5)
      await stage.tab.evaluate(`
        for (let n = 0; n < 30; n++) footfall('track', 'small' + n, { text: 'x'.repeat(3000) })`)
      expect(new Set(names(await stage.events('custom', 35))).size).toBe(35)
      // What browsers let leave with a page that closes.
      const { received } = stage.receiver.state
      expect(Math.max(...received.map(({ bytes }) => bytes))).toBeLessThan(65_536)
    },
  },
  {
    name: 'what a collector refused reaches it from the next page, under the same ids',
    async run(stage) {
      stage.put('/page')
      stage.put('/next')
      // Too many requests, and no service: both ask the sender to repeat.
      stage.receiver.state.statuses = Array.from({ length: 100 }, (_, n) => (n % 2 ? 503 : 429))
      await stage.visit()
      for (let n = 0; n < 10; n++) await stage.tab.evaluate(`footfall('track', 'away${n}')`)
      // A refusal that its page never heard of is nobody's.
      await stage.pageSays(`'footfall_${pixelId}' in localStorage`)
      stage.receiver.state.statuses = []
      await stage.goto('/next')
      await stage.events('page_view', 2)
      await stage.settled()
      // Sent twice where the first page could not know that its last beacon arrives: the id tells the collector.
      const events = new Map(stage.receiver.events().map((event) => [event.event_id, event]))
      const types = [...events.values()].map(({ event_type }) => event_type)
      expect(types.filter((type) => type === 'page_view')).toHaveLength(2)
      expect(types.filter((type) => type === 'custom')).toHaveLength(11)
    },
  },
  {
    name: 'a page that breaks everything gets no error from us',
    async run(stage) {
      const broken = `
        errors = []
        addEventListener('error', ({ message }) => errors.push(message))
        addEventListener('unhandledrejection', ({ reason }) => errors.push(String(reason)))
        const fail = () => { throw new Error('broken by the page') }
        for (const name of ['localStorage', 'sessionStorage'])
          Object.defineProperty(window, name, { get: fail })
        Object.defineProperty(document, 'cookie', { get: fail, set: fail })
        Object.defineProperty(document, 'currentScript', { get: () => null })
        window.fetch = fail
        navigator.sendBeacon = () => false
        window.requestIdleCallback = window.ResizeObserver = undefined
        Object.freeze(history)`
      stage.put('/page', {
        head: `<script>{${broken}}</script>`,
        body: '<form onsubmit="return false"><input name="id"><button>Send</button></form>',
      })
      await stage.visit()
      await stage.tab.click('button')
      await stage.tab.evaluate(
        `footfall('track', 'x', { get y() { throw new Error('no') } }); footfall('flush')`,
      )
      await stage.rest(2000)
      expect(await stage.tab.evaluate('errors')).toEqual([])
    },
  },
]
