import { expect } from 'vitest'
import type { Case } from '../case.ts'
import type { Stage } from '../stage.ts'

/** Paths of the page views in order, once there are `count` and a last event has come after them. */
async function viewed(stage: Stage, count: number): Promise<string[]> {
  await stage.events('page_view', count)
  await stage.settled()
  const views = (await stage.events('page_view', count)).sort((one, other) =>
    `${one.timestamp}` < `${other.timestamp}` ? -1 : 1,
  )
  return views.map(({ url }) => `${url}`.slice(stage.receiver.pageOrigin.length))
}

const searches = async (stage: Stage) => (await stage.events('search', 1)).map(({ query }) => query)

/** A search field on pages that show typed text in the URL: 30 ms from key to key. */
const typeIntoUrl = `async function typeIntoUrl(text) {
  for (let length = 1; length <= text.length; length++) {
    history.replaceState({}, '', '?q=' + text.slice(0, length))
    await new Promise((passed) => setTimeout(passed, 30))
  }
}`

/** Longer than a URL takes to rest. */
const rest = (stage: Stage) => stage.rest(1300)

export const routes: Case[] = [
  {
    name: 'pushes within a tenth of a second are one page view, of the last, with the referrer of the first',
    async run(stage) {
      stage.put('/page')
      await stage.visit()
      await stage.events('page_view', 1)
      await stage.tab.evaluate(
        `for (const path of ['/a', '/b', '/c']) history.pushState({}, '', path)`,
      )
      expect(await viewed(stage, 2)).toEqual(['/page', '/c'])
      const views = await stage.events('page_view', 2)
      expect(views[1]!.referrer).toBe(`${stage.receiver.pageOrigin}/page`)
    },
  },
  {
    name: 'a route within a zone of zone.js leaves no task there',
    async run(stage) {
      // As zone.js does: a timer that starts in the zone is its task and runs in it. The browser's own has another name.
      stage.put('/page', {
        head: `<script>tasks = 0, isInside = false
          run = (work) => { isInside = true; try { work() } finally { isInside = false } }
          window.__zone_symbol__setTimeout = window.setTimeout
          window.setTimeout = (work, ...more) => {
            if (!isInside) return window.__zone_symbol__setTimeout(work, ...more)
            tasks++
            return window.__zone_symbol__setTimeout(() => run(work), ...more)
          }</script>`,
      })
      await stage.visit()
      await stage.events('page_view', 1)
      await stage.tab.evaluate(`run(() => history.pushState({}, '', '/route'))`)
      expect(await viewed(stage, 2)).toEqual(['/page', '/route'])
      expect(await stage.tab.evaluate('tasks')).toBe(0)
    },
  },
  {
    name: 'a route that leads back to where it began is no page view',
    async run(stage) {
      stage.put('/page')
      await stage.visit()
      await stage.tab.evaluate(
        `history.pushState({}, '', '/away'); history.replaceState({}, '', '/page')`,
      )
      await rest(stage)
      expect(await viewed(stage, 1)).toEqual(['/page'])
    },
  },
  {
    name: 'a page view of a route that is left at once is sent with the page',
    async run(stage) {
      stage.put('/page')
      stage.put('/next', { pixel: false })
      await stage.visit()
      await stage.events('page_view', 1)
      await stage.tab.evaluate(
        `history.pushState({}, '', '/route'); setTimeout(() => location.assign('/next'))`,
      )
      const views = await stage.events('page_view', 2)
      expect(views.map(({ url }) => new URL(`${url}`).pathname).sort()).toEqual(['/page', '/route'])
    },
  },
  {
    name: 'a replaced query is no page view: filters, maps, a search as it is typed',
    async run(stage) {
      stage.put('/page')
      await stage.visit()
      await stage.tab.evaluate(
        `for (let zoom = 1; zoom < 10; zoom++) history.replaceState({}, '', '?zoom=' + zoom)`,
      )
      await rest(stage)
      expect(await viewed(stage, 1)).toEqual(['/page'])
      expect(stage.receiver.events('search')).toEqual([])
    },
  },
  {
    name: 'a replaced query is a page view where the settings say so, once it has rested',
    async run(stage) {
      stage.put('/page')
      stage.set({ track_query: true })
      await stage.visit()
      await stage.tab.evaluate(
        `for (let zoom = 1; zoom < 10; zoom++) history.replaceState({}, '', '?zoom=' + zoom)`,
      )
      expect(await viewed(stage, 2)).toEqual(['/page', '/page?zoom=9'])
    },
  },
  {
    name: 'search as you type is one search, the last, once typing has rested',
    async run(stage) {
      stage.put('/page', { head: `<script>${typeIntoUrl}</script>` })
      await stage.visit()
      await stage.tab.evaluate(`typeIntoUrl('blue vase')`)
      expect(await searches(stage)).toEqual(['blue vase'])
      await stage.tab.evaluate(`typeIntoUrl('blue vases')`)
      await stage.events('search', 2)
      expect(await searches(stage)).toEqual(['blue vase', 'blue vases'])
      expect(await viewed(stage, 1)).toEqual(['/page'])
    },
  },
  {
    name: 'search as you type is one search where its result is chosen before typing has rested',
    async run(stage) {
      stage.put('/page', { head: `<script>${typeIntoUrl}</script>` })
      await stage.visit()
      await stage.tab.evaluate(
        `typeIntoUrl('vase').then(() => history.pushState({}, '', '/vases/1'))`,
      )
      expect(await searches(stage)).toEqual(['vase'])
      expect(await viewed(stage, 2)).toEqual(['/page', '/vases/1'])
      const views = await stage.events('page_view', 2)
      expect(views[1]!.referrer).toBe(`${stage.receiver.pageOrigin}/page?q=vase`)
    },
  },
  {
    name: 'search as you type is one search where the page goes before typing has rested',
    async run(stage) {
      stage.put('/page', { head: `<script>${typeIntoUrl}</script>` })
      stage.put('/next', { pixel: false })
      await stage.visit()
      await stage.tab.evaluate(`typeIntoUrl('vase').then(() => location.assign('/next'))`)
      expect(await searches(stage)).toEqual(['vase'])
    },
  },
  {
    name: 'fragments that are routes are pages without a setting, others are not',
    async run(stage) {
      stage.put('/page', { body: '<h2 id="part">Part</h2>' })
      await stage.visit()
      await stage.events('page_view', 1)
      for (const fragment of ['#/cart', '#!/checkout', '#part', '#top']) {
        await stage.tab.evaluate(`location.hash = '${fragment}'`)
        await rest(stage)
      }
      // A hash that is not a route belongs to the page without it.
      expect(await viewed(stage, 4)).toEqual([
        '/page',
        '/page#/cart',
        '/page#!/checkout',
        '/page#part',
      ])
    },
  },
]
