import { expect } from 'vitest'
import { pixelId } from '../../receiver.ts'
import type { Case } from '../case.ts'
import type { Stage } from '../stage.ts'

/** The page views in order, once there are `count` and a last event has come after them. */
async function viewsInOrder(stage: Stage, count: number): Promise<Record<string, unknown>[]> {
  await stage.events('page_view', count)
  await stage.settled()
  // A page that is left and the one after it send at the same time: which arrives first is chance.
  return (await stage.events('page_view', count)).sort((one, other) =>
    `${one.timestamp}` < `${other.timestamp}` ? -1 : 1,
  )
}

const viewedPaths = async (stage: Stage, count: number) =>
  (await viewsInOrder(stage, count)).map(pathOf)

const pathOf = ({ url }: Record<string, unknown>): string => {
  const { pathname, search, hash } = new URL(url as string)
  return pathname + search + hash
}

export const pages: Case[] = [
  {
    name: 'one page view for each push, replace to another URL, and step back',
    async run(stage) {
      stage.put('/page', {
        body: `<button id="push" onclick="history.pushState({}, '', '/two'); document.title = 'Two'">push</button>
          <button id="replace" onclick="history.replaceState({}, '', '/three'); document.title = 'Three'">replace</button>
          <button id="same" onclick="history.replaceState({ y: 1 }, '', location.href)">same</button>
          <button id="back" onclick="history.back()">back</button>`,
      })
      await stage.visit()
      for (const button of ['push', 'replace', 'same', 'back']) {
        await stage.tab.click(`#${button}`)
        // Longer than a router takes to get where it leads.
        await stage.rest(200)
      }
      await stage.pageSays(`location.pathname === '/page'`)
      const views = await viewsInOrder(stage, 4)
      expect(views.map(pathOf)).toEqual(['/page', '/two', '/three', '/page'])
      const { pageOrigin } = stage.receiver
      expect(views[1]).toMatchObject({ title: 'Two', referrer: `${pageOrigin}/page` })
      expect(views[2]).toMatchObject({ title: 'Three', referrer: `${pageOrigin}/two` })
    },
  },
  {
    name: 'a change of the fragment is a page view where the settings say so',
    async run(stage) {
      stage.put('/page', { body: '<a href="#cart">cart</a>' })
      await stage.visit()
      await stage.tab.click('a')
      await stage.pageSays(`location.hash === '#cart'`)
      stage.set({ track_hash: true })
      await stage.visit('/page?hash')
      await stage.tab.click('a')
      await stage.pageSays(`location.hash === '#cart'`)
      await stage.events('page_view', 3)
      await stage.tab.evaluate('setTimeout(() => history.back())')
      await stage.pageSays(`location.hash === ''`)
      expect(await viewedPaths(stage, 4)).toEqual([
        '/page',
        '/page?hash',
        '/page?hash#cart',
        '/page?hash',
      ])
    },
  },
  {
    name: 'a page that comes back out of the back/forward cache is viewed again',
    async run(stage) {
      stage.put('/page', {
        body: `<a href="/next">next</a><script>
          addEventListener('pageshow', (event) => { if (event.persisted) window.restored = true })</script>`,
      })
      stage.put('/next')
      await stage.visit()
      await stage.tab.click('a')
      await stage.pageSays(`location.pathname === '/next' && !!window.footfall?.on`)
      await stage.tab.evaluate('setTimeout(() => history.back())')
      await stage.pageSays(`location.pathname === '/page' && window.restored`)
      expect(await viewedPaths(stage, 3)).toEqual(['/page', '/next', '/page'])
      const scripts = stage.receiver.state.requests.filter((request) => request.startsWith('GET'))
      expect(scripts.length).toBeLessThanOrEqual(2)
    },
  },
  {
    name: 'a prerendered page is viewed once it is shown, and never when it is not',
    unsupported: {
      firefox: 'prerenders no pages',
      webkit: 'prerenders no pages',
    },
    async run(stage) {
      const rules = JSON.stringify({
        prerender: [{ urls: ['/shown', '/unseen'], eagerness: 'immediate' }],
      })
      // The pages do all of it by themselves: a driver may take one that waits for the one that is shown.
      stage.put('/page', {
        head: `<script type="speculationrules">${rules}</script>`,
        body: `<a href="/shown">shown</a><script>
          const waiting = setInterval(() => {
            if (!['/shown', '/unseen'].every((path) => localStorage.getItem('loaded' + path) === 'true')) return
            clearInterval(waiting)
            document.querySelector('a').click()
          }, 50)
        </script>`,
      })
      const report = `<script>
        addEventListener('load', () => localStorage.setItem('loaded' + location.pathname, document.prerendering))
        document.addEventListener('prerenderingchange', () => setTimeout(() => footfall('track', 'activated')))
      </script>`
      stage.put('/shown', { head: report })
      stage.put('/unseen', { head: report })
      await stage.visit()
      await stage.events('custom', 1)
      expect((await stage.events('page_view', 2)).map(pathOf).sort()).toEqual(['/page', '/shown'])
      await stage.rest(1000)
      expect(await stage.events('page_view', 2)).toHaveLength(2)
    },
  },
  {
    name: 'a quiet page view takes two requests at most, the script among them',
    async run(stage) {
      stage.put('/page', { body: '<div style="height:3000px">tall</div>' })
      stage.put('/blank', { pixel: false })
      await stage.visit()
      await stage.events('page_view', 1)
      // Late events are sent while the page closes; the next beacon would follow this one within a second.
      await stage.goto('/blank')
      await stage.rest(1000)
      const { requests, received } = stage.receiver.state
      expect(requests).toEqual([`GET /p/${pixelId}.js`, 'POST /e'])
      expect(received[0]!.headers['content-type']).toMatch(/^text\/plain/)
      expect(received[0]!.beacon).toMatchObject({ pixel_id: pixelId, consent: true })
    },
  },
]
