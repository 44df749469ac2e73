import { expect } from 'vitest'
import { snippet } from '../../../../pixel/stub.mjs'
import { waitFor } from '../../../harness/service.ts'
import { pixelId } from '../../receiver.ts'
import type { Case } from '../case.ts'
import type { Stage } from '../stage.ts'

/** Keeps the page's uncaught errors. */
const watched = `<script>errors = []; addEventListener('error', ({ message }) => errors.push(message))
  addEventListener('unhandledrejection', ({ reason }) => errors.push(String(reason)))</script>`
const errors = (stage: Stage) => stage.tab.evaluate<string>('errors.join()')
/** In place of the head's, so that what stands before it is there first. */
const pixelOf = (stage: Stage) =>
  snippet(`${stage.receiver.collectorOrigin}/p/${pixelId}.js`).replaceAll(' async', '')

const named = (names: string[]) => names.map((name) => `<img name="${name}" alt="">`).join('')
/** Properties of the document that the pixel reads. Images and forms with these names hide them. */
const ofDocument = named([
  'title',
  'referrer',
  'URL',
  'cookie',
  'baseURI',
  'host',
  'matches',
  'mode',
  'parentNode',
  'localName',
  'prerendering',
  'scrollingElement',
  'readyState',
  'hidden',
  'documentElement',
  'attributes',
  'nodeType',
])
/** Properties of a form that it reads. */
const ofForm = [
  'parentNode',
  'host',
  'matches',
  'mode',
  'attributes',
  'id',
  'name',
  'action',
  'method',
  'elements',
  'href',
  'localName',
  'closest',
  'querySelector',
  'getRootNode',
]

export const clobbered: Case[] = [
  {
    name: 'what is named like a property of the document hides none from the pixel, nor sends it elsewhere',
    async run(stage) {
      // With a chunk: loaded code runs in the page.
      stage.set({ web_vitals: true })
      stage.put('/from', { pixel: false, body: '<a href="/page">page</a>' })
      stage.put('/page', {
        pixel: false,
        head: watched,
        body: `${ofDocument}<img name="currentScript" src="/elsewhere/p/x.js" alt="">
          <img id="footfall" alt=""><form id="requests" name="q"></form>${pixelOf(stage)}<button>Buy</button>`,
      })
      await stage.goto('/from')
      await stage.tab.click('a')
      await stage.pageSays('!!window.footfall?.on')
      await stage.tab.click('button')
      const [click] = await stage.events('click', 1)
      expect(click).toMatchObject({ elementText: 'Buy', url: `${stage.receiver.pageOrigin}/page` })
      const [view] = await stage.events('page_view', 1)
      expect(view).toMatchObject({ title: 'page', referrer: `${stage.receiver.pageOrigin}/from` })
      await waitFor('the chunk', () => stage.receiver.state.requests.includes('GET /p/vitals.js'))
      await stage.settled()
      expect(await errors(stage)).toBe('')
    },
  },
  {
    name: 'what is named like the document’s own ways to find elements hides none of them',
    async run(stage) {
      stage.put('/page', {
        head: watched,
        body: `${named(['querySelector', 'querySelectorAll'])}<p data-footfall-results="12">Twelve</p>
          <form onsubmit="return false"><input name="coupon" value="x"><button>Buy</button></form>`,
      })
      await stage.visit('/page?q=eggs')
      const [search] = await stage.events('search', 1)
      expect(search).toMatchObject({ query: 'eggs', results_count: 12 })
      await stage.events('page_view', 1)
      // By the page: what drivers find elements by is hidden, too.
      await stage.tab.evaluate(`document.getElementsByTagName('button')[0].click()
        getSelection().selectAllChildren(document.getElementsByTagName('p')[0])`)
      await stage.tab.press('Control+C')
      const [sent] = await stage.events('form_submission', 1)
      expect(sent).toMatchObject({ fields: ['coupon'] })
      const [copied] = await stage.events('copy', 1)
      expect(copied).toMatchObject({ text: 'Twelve' })
      expect(await errors(stage)).toBe('')
    },
  },
  {
    name: 'a form’s fields that are named like its properties hide none of them',
    async run(stage) {
      stage.put('/page', {
        head: watched,
        body: `<form id="order" name="shop" action="/buy" method="post" onsubmit="return false">
          ${ofForm.map((name) => `<input name="${name}" value="x">`).join('')}<button>Buy</button><p>Text</p></form>`,
      })
      await stage.visit()
      await stage.tab.click('button')
      const [click] = await stage.events('click', 1)
      expect(click).toMatchObject({ elementText: 'Buy' })
      await stage.tab.click('p')
      const [, ofItself] = await stage.events('click', 2)
      expect(ofItself).toMatchObject({ elementText: '', elementIdentifier: '#order>p' })
      const [sent] = await stage.events('form_submission', 1)
      expect(sent).toMatchObject({
        form: {
          id: 'order',
          name: 'shop',
          action: `${stage.receiver.pageOrigin}/buy`,
          method: 'post',
        },
        fields: ofForm,
      })
      expect(await errors(stage)).toBe('')
    },
  },
  {
    name: 'prototypes that were added to or frozen, a history that is, and a toJSON of all objects lose nothing',
    async run(stage) {
      stage.put('/page', {
        head: `${watched}<script>
          called = []
          for (const name of ['extend', 'click2']) Object.prototype[name] = function () { called.push(name) }
          Object.prototype.toJSON = () => 'hidden'
          Array.prototype.last = function () { return this[this.length - 1] }
          Object.freeze(Array.prototype)
          Object.defineProperty(history, 'pushState', { value: history.pushState.bind(history) })
        </script>`,
        body: '<button>Buy</button>',
      })
      await stage.visit()
      // By the page: what drivers find elements by breaks here, too.
      await stage.tab.evaluate(`document.querySelector('button').focus()`)
      await stage.tab.press('Enter')
      await stage.tab.evaluate(`
        for (const type of ['extend', 'click2']) document.body.dispatchEvent(new Event(type))
        footfall('track', 'bought', { items: ['a', { b: 1 }] })`)
      const [custom] = await stage.events('custom', 1)
      expect(custom).toMatchObject({ name: 'bought', properties: { items: ['a', { b: 1 }] } })
      const [click] = await stage.events('click', 1)
      expect(click).toMatchObject({ elementText: 'Buy' })
      await stage.events('page_view', 1)
      expect(await stage.tab.evaluate('called.join()')).toBe('')
      expect(await errors(stage)).toBe('')
    },
  },
  {
    name: 'what throws when the pixel asks for it is not told to the page, and what waits is sent later',
    async run(stage) {
      stage.put('/page', { head: watched, body: '<button>Buy</button>' })
      await stage.visit()
      await stage.events('page_view', 1)
      // The drivers of browsers need these themselves: they are back before they are asked again.
      await stage.tab.evaluate(`own = Date; setTimeout(() => {
        setTimeout(() => { Date = own; dispatchEvent(new Event('online')) }, 1500)
        footfall('track', 'first')
        Date = class { static now() { return own.now() } }
        history.pushState({}, '', '/route')
        const click = new MouseEvent('click', { bubbles: true })
        click.composedPath = () => [new Proxy({}, { get() { throw new Error('asked') } })]
        document.querySelector('button').dispatchEvent(click)
        dispatchEvent(new Event('scroll'))
      })`)
      await stage.rest(1700)
      await stage.events('custom', 1)
      await stage.events('page_view', 2)
      await stage.tab.evaluate(`own = JSON.stringify; setTimeout(() => {
        setTimeout(() => { JSON.stringify = own }, 200)
        JSON.stringify = () => undefined
        footfall('track', 'unsaid')
        footfall('flush')
      }, 500)`)
      await stage.rest(1500)
      await stage.settled()
      expect(await errors(stage)).toBe('')
    },
  },
  {
    name: 'a page without a doctype whose body scrolls: its depth, and no error',
    async run(stage) {
      stage.put('/page', { pixel: false })
      stage.receiver.state.pages.set(
        '/page',
        `<html style="overflow:hidden;height:100%"><head><title>quirks</title>${watched}${pixelOf(stage)}</head>
          <body style="overflow:auto;height:100%;margin:0"><div style="height:3000px"></div></body></html>`,
      )
      await stage.visit()
      await stage.tab.evaluate(`document.body.scrollTop = 3000`)
      await stage.events('scroll_depth', 4)
      expect(await errors(stage)).toBe('')
    },
  },
]
