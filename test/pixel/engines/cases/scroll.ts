import { expect } from 'vitest'
import { waitFor } from '../../../harness/service.ts'
import type { Case } from '../case.ts'
import type { Stage } from '../stage.ts'

/** Leaves the page: then its depth is reported. */
async function depthsOnLeaving(stage: Stage): Promise<unknown[]> {
  await stage.settled()
  stage.put('/left', { pixel: false })
  await stage.goto('/left')
  await stage.rest(700)
  return stage.receiver.events('scroll_depth').map(({ event_data }) => event_data.threshold)
}

/** Presses the key again and again: a compositor that has not drawn the top yet thinks that it is at the end. */
async function scrollToEnd({ tab }: Stage) {
  await waitFor('the end of the page', async () => {
    await tab.press('End')
    return tab.evaluate('scrollY + innerHeight > document.documentElement.scrollHeight - 2')
  })
}

const shell = (style: string, content: string, bodyStyle = 'margin:0') =>
  `<style>html, body { height: 100% } body { ${bodyStyle} }</style><nav style="position:fixed;top:0;left:0;width:100px;height:300px;overflow:auto">
    <p style="height:5000px">menu</p></nav><main style="${style}">${content}</main>`

const inside = 'height:100%;overflow-y:auto'
const tall = (height: number) => `<p style="margin:0;height:${height}px">tall</p>`

export const scroll: Case[] = [
  {
    name: 'scrolling tells each threshold once',
    async run(stage) {
      stage.put('/page', { body: '<div style="height:3100px">tall</div>' })
      await stage.visit()
      await stage.tab.click('div')
      await scrollToEnd(stage)
      await stage.events('scroll_depth', 4)
      await stage.tab.evaluate('scrollTo(0, 0)')
      await scrollToEnd(stage)
      expect(await depthsOnLeaving(stage)).toEqual([25, 50, 75, 100])
    },
  },
  {
    name: 'a container that scrolls in an application: nothing without scrolling, then its own depth',
    async run(stage) {
      stage.put('/page', { body: shell(inside, tall(20_000)) })
      await stage.visit()
      await stage.rest(1000)
      expect(stage.receiver.events('scroll_depth')).toEqual([])
      await stage.tab.evaluate(
        `main = document.querySelector('main'); main.scrollTop = 10_500 - main.clientHeight`,
      )
      await stage.events('scroll_depth', 2)
      expect(await depthsOnLeaving(stage)).toEqual([25, 50])
    },
  },
  {
    name: 'a small part that scrolls is not the page: the largest container counts',
    async run(stage) {
      stage.put('/page', { body: shell(inside, tall(20_000)) })
      await stage.visit()
      await stage.tab.evaluate(`document.querySelector('nav').scrollTop = 9000`)
      await stage.rest(1000)
      expect(await depthsOnLeaving(stage)).toEqual([])
    },
  },
  {
    name: 'a body that scrolls by itself',
    async run(stage) {
      stage.put('/page', {
        head: '<style>html { overflow: hidden; height: 100% } body { margin: 0; height: 100%; overflow: auto }</style>',
        body: tall(20_000),
      })
      await stage.visit()
      await stage.rest(1000)
      expect(stage.receiver.events('scroll_depth')).toEqual([])
      await stage.tab.evaluate(`document.body.scrollTop = 5500 - document.body.clientHeight`)
      expect((await stage.events('scroll_depth', 1))[0]).toMatchObject({ threshold: 25 })
      expect(await depthsOnLeaving(stage)).toEqual([25])
    },
  },
  {
    name: 'content that comes late: what was seen is of the page as it became',
    async run(stage) {
      stage.put('/page', {
        body: `<div id="app"></div><script>setTimeout(() => { app.style.height = '20000px' }, 1500)</script>`,
      })
      await stage.visit()
      await stage.rest(2000)
      expect(await depthsOnLeaving(stage)).toEqual([])
    },
  },
  {
    name: 'a route whose content comes later: no depth of the empty page between, nor of the jump to its top',
    async run(stage) {
      stage.put('/page', { body: `<div id="app" style="height:20000px"></div>` })
      await stage.visit()
      await stage.tab.evaluate(`scrollTo(0, 5500 - innerHeight)`)
      await stage.events('scroll_depth', 1)
      await stage.tab.evaluate(`history.pushState({}, '', '/route'); app.style.height = 0; scrollTo(0, 0)
        setTimeout(() => { app.style.height = '20000px' }, 1000)`)
      await stage.rest(1500)
      expect(await depthsOnLeaving(stage)).toEqual([25])
    },
  },
  {
    name: 'a page that is not scrolled has no depth, however short',
    async run(stage) {
      stage.put('/page', { body: 'short' })
      await stage.visit()
      await stage.rest(1000)
      expect(await depthsOnLeaving(stage)).toEqual([])
    },
  },
  {
    name: 'a new route that stays where the one before was left has no depth, whatever event comes late',
    async run(stage) {
      stage.put('/page', { body: tall(20_000) })
      await stage.visit()
      await stage.tab.evaluate(`scrollTo(0, 10_500 - innerHeight)`)
      await stage.events('scroll_depth', 2)
      await stage.tab.evaluate(`history.pushState({}, '', '/route')`)
      await stage.events('page_view', 2)
      for (let n = 0; n < 2; n++) {
        await stage.tab.evaluate(`dispatchEvent(new Event('scroll'))`)
        await stage.rest(400)
      }
      expect(await depthsOnLeaving(stage)).toEqual([25, 50])
    },
  },
  {
    name: 'what was scrolled just before a route changes is of the page before',
    async run(stage) {
      stage.put('/page', { body: tall(20_000) })
      await stage.visit()
      await stage.tab.evaluate('scrollTo(0, 50)')
      // The code for scrolling comes with the first of it.
      await stage.pageSays(
        `performance.getEntriesByType('resource').some(({ name }) => /capture/.test(name))`,
      )
      await stage.rest(300)
      await stage.tab.evaluate(`scrollTo(0, 10_500 - innerHeight)
        dispatchEvent(new Event('scroll')); history.pushState({}, '', '/route')`)
      const depths = (await stage.events('scroll_depth', 2)).map(({ url, threshold }) => [
        new URL(`${url}`).pathname,
        threshold,
      ])
      expect(depths).toEqual([
        ['/page', 25],
        ['/page', 50],
      ])
    },
  },
]
