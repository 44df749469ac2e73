import { expect } from 'vitest'
import type { Case } from '../case.ts'
import type { Stage } from '../stage.ts'

/** The id of each beacon so far; undefined where it had none. */
const ids = (stage: Stage) => stage.receiver.state.received.map(({ beacon }) => beacon.cookie_id)

const uuid = expect.stringMatching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/)

/** Data of the pixel that a page may find in this browser. */
const traces = (stage: Stage) =>
  stage.tab.evaluate<string>(
    'document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage })',
  )

export const privacy: Case[] = [
  {
    name: 'one id for one visitor, on every page and sub-domain, and the collector’s own wins',
    async run(stage) {
      stage.put('/page')
      // Every name below localhost is this machine.
      const visit = (host: string) =>
        stage.visit(
          `${stage.receiver.pageOrigin.replace('localhost', `${host}.shop.localhost`)}/page`,
        )
      await visit('www')
      await stage.events('page_view', 1)
      const known = '7d5cfa0c-9a53-4e0b-9a0f-1de1f3b0a0c1'
      stage.receiver.state.cookieId = known
      await visit('blog')
      await stage.events('page_view', 2)
      await stage.pageSays(`document.cookie === 'footfall_id=${known}'`)
      await visit('www')
      await stage.events('page_view', 3)
      const [first, second, third] = ids(stage)
      expect(first).toEqual(uuid)
      expect([second, third]).toEqual([first, known])
    },
  },
  {
    name: 'cookieless: events without an id, and nothing kept, until consent is granted',
    async run(stage) {
      stage.put('/page')
      stage.set({ consent: 'cookieless' })
      await stage.visit()
      await stage.events('page_view', 1)
      expect(ids(stage)).toEqual([undefined])
      expect(stage.receiver.state.received[0]!.beacon.consent).toBe(false)
      expect(await traces(stage)).toBe('{}')
      await stage.tab.evaluate(`footfall('consent', 'granted'); footfall('track', 'after')`)
      await stage.events('custom', 1)
      expect(ids(stage)).toEqual([undefined, uuid])
      expect(stage.receiver.state.received[1]!.beacon.consent).toBe(true)
      // WebKit keeps no cookie of the bare host localhost, so the id is in the storage there.
      await stage.pageSays(
        `(document.cookie + JSON.stringify({ ...localStorage })).includes('${ids(stage)[1]}')`,
      )
    },
  },
  {
    name: 'hold: nothing leaves the page until consent is granted, then all of it',
    async run(stage) {
      stage.put('/page', { body: '<button>x</button>' })
      stage.set({ consent: 'hold' })
      await stage.visit()
      await stage.tab.click('button')
      await stage.tab.evaluate(`footfall('flush')`)
      await stage.tab.hide()
      await stage.pageSays('document.hidden')
      await stage.tab.show()
      await stage.pageSays('!document.hidden')
      expect(stage.receiver.state.requests).not.toContain('POST /e')
      expect(await traces(stage)).toBe('{}')
      await stage.tab.evaluate(`footfall('consent', 'granted')`)
      await stage.events('page_view', 1)
      await stage.events('click', 1)
      expect(new Set(ids(stage))).toEqual(new Set([uuid]))
    },
  },
  {
    name: 'off: nothing is noted; once consent is granted the page that is open is viewed, by its own referrer',
    async run(stage) {
      stage.put('/from', { pixel: false, body: '<a href="/page">page</a>' })
      stage.put('/page', { body: '<button>x</button>' })
      stage.set({ consent: 'off' })
      await stage.goto('/from')
      await stage.tab.click('a')
      await stage.pageSays('!!window.footfall?.on')
      await stage.tab.click('button')
      await stage.tab.evaluate(`footfall('track', 'before')`)
      expect(stage.receiver.state.requests).not.toContain('POST /e')
      await stage.tab.evaluate(`footfall('consent', 'granted')`)
      const [view] = await stage.events('page_view', 1)
      expect(view).toMatchObject({ title: 'page', referrer: `${stage.receiver.pageOrigin}/from` })
      await stage.tab.evaluate(`footfall('consent', 'granted')`)
      await stage.settled()
      expect(stage.receiver.events().map(({ event_type }) => event_type)).toEqual([
        'page_view',
        'custom',
      ])
    },
  },
  {
    name: 'denied: no id from then on, and the one that was kept is gone',
    async run(stage) {
      stage.put('/page')
      await stage.visit()
      await stage.events('page_view', 1)
      await stage.tab.evaluate(
        `footfall('consent', 'denied'); footfall('identify', { hem: '${'a'.repeat(64)}' }); footfall('track', 'after')`,
      )
      await stage.events('custom', 1)
      expect(ids(stage)).toEqual([uuid, undefined])
      const { beacon } = stage.receiver.state.received[1]!
      expect([beacon.consent, beacon.hem]).toEqual([false, undefined])
      expect(await traces(stage)).toBe('{}')
    },
  },
  {
    name: 'Global Privacy Control, as extensions set it, is no consent',
    async run(stage) {
      const signal = `Object.defineProperty(navigator, 'globalPrivacyControl', { get: () => true })`
      stage.put('/page', { head: `<script>${signal}</script>` })
      await expectNoId(stage)
    },
  },
  {
    name: 'Global Privacy Control of the browser’s own is no consent',
    unsupported: { chromium: 'has no such signal', webkit: 'has no such signal' },
    isPrivate: true,
    async run(stage) {
      stage.put('/page')
      await expectNoId(stage)
      expect(stage.receiver.state.received[0]!.headers['sec-gpc']).toBe('1')
    },
  },
]

async function expectNoId(stage: Stage) {
  await stage.visit()
  await stage.events('page_view', 1)
  expect(ids(stage)).toEqual([undefined])
  expect(await traces(stage)).toBe('{}')
}
