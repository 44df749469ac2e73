import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { packageRoot } from '../../../../collector/platform/paths.ts'
import type { Case } from '../case.ts'

const video = readFileSync(join(packageRoot, 'examples/shop/assets/wheel.webm')).toString('base64')

export const capture: Case[] = [
  {
    name: 'a page view tells the page, its title and the sizes of screen and window',
    async run(stage) {
      stage.put('/page')
      await stage.visit()
      const [view] = await stage.events('page_view', 1)
      expect(view).toMatchObject({
        url: `${stage.receiver.pageOrigin}/page`,
        title: 'page',
        referrer: null,
      })
      expect(view!.viewport).toEqual({
        width: 1000,
        height: await stage.tab.evaluate('innerHeight'),
      })
    },
  },
  {
    name: 'a click tells what was clicked',
    async run(stage) {
      stage.put('/page', { body: '<button id="buy" aria-label="Buy it"><b>Buy</b> now</button>' })
      await stage.visit()
      await stage.tab.click('b')
      const [click] = await stage.events('click', 1)
      expect(click).toMatchObject({
        element: { ariaLabel: 'Buy it' },
        elementIdentifier: '#buy',
        elementText: 'Buy now',
        coordinates: { x: expect.any(Number), y: expect.any(Number) },
      })
    },
  },
  {
    name: 'a copy carries the selected text',
    async run(stage) {
      stage.put('/page', { body: '<p>copied text</p>' })
      await stage.visit()
      await stage.tab.click('p')
      await stage.tab.evaluate(`getSelection().selectAllChildren(document.querySelector('p'))`)
      await stage.tab.press('Control+C')
      const [copy] = await stage.events('copy', 1)
      expect(copy).toMatchObject({ text: 'copied text', textLength: 11 })
    },
  },
  {
    name: 'a form tells its fields’ names, never what was typed',
    async run(stage) {
      stage.put('/next')
      stage.put('/page', {
        body: `<form id="signup" action="/next"><input name="city"><input name="pin" type="password">
          <button>Send</button></form>`,
      })
      await stage.visit()
      await stage.tab.click('[name=city]')
      await stage.tab.type('Typed')
      await stage.tab.click('[name=pin]')
      await stage.tab.type('Secret')
      await stage.tab.click('form button')
      const [submission] = await stage.events('form_submission', 1)
      expect(submission).toMatchObject({ form: { id: 'signup' }, fields: ['city'] })
      await stage.events('page_view', 2)
      const [page] = stage.receiver.state.received
      expect(JSON.stringify(page!.beacon)).not.toMatch(/Typed|Secret/)
    },
  },
  {
    name: 'a search form that leads to its results is one search',
    async run(stage) {
      stage.put('/found')
      stage.put('/page', {
        body: '<form action="/found"><input name="q"><button>Find</button></form>',
      })
      await stage.visit()
      await stage.tab.click('input')
      await stage.tab.type('blue vase')
      await stage.tab.click('button')
      const [search] = await stage.events('search', 1)
      expect(search).toMatchObject({ query: 'blue vase', results_count: null })
      await stage.events('page_view', 2)
    },
  },
  {
    name: 'a video tells when it plays, how far, and its end',
    async run(stage) {
      stage.put('/page', {
        body: `<video title="Wheel" muted src="data:video/webm;base64,${video}"></video><button
          onclick="film = document.querySelector('video'); film.playbackRate = 2; film.play()">Play</button>`,
      })
      await stage.visit()
      await stage.tab.click('button')
      const videos = await stage.events('video', 5)
      expect(
        videos.map(({ action, percent }) => (action === 'progress' ? percent : action)),
      ).toEqual(['play', 25, 50, 75, 'ended'])
      expect(videos[0]).toMatchObject({ title: 'Wheel' })
    },
  },
  {
    name: 'muted videos that start by themselves or loop are decoration',
    unsupported: { webkit: 'on GTK calls no video muted' },
    async run(stage) {
      const film = `muted src="data:video/webm;base64,${video}"`
      stage.put('/page', {
        body: `<video title="One" autoplay ${film}></video><video title="Two" loop ${film}></video><video
          title="Wheel" ${film}></video><button onclick="for (const film of document.querySelectorAll('[title]'))
          film.playbackRate = 2, film.play()">Play</button>`,
      })
      await stage.visit()
      await stage.tab.click('button')
      const videos = await stage.events('video', 5)
      expect(new Set(videos.map(({ title }) => title))).toEqual(new Set(['Wheel']))
      expect(videos.at(-1)).toMatchObject({ action: 'ended' })
    },
  },
  {
    name: 'a click on a file is a download too',
    async run(stage) {
      stage.put('/page', { body: '<a href="/price%20list.zip" download>Prices</a>' })
      await stage.visit()
      await stage.tab.click('a')
      const [download] = await stage.events('download', 1)
      expect(download).toMatchObject({ filename: 'price list.zip', extension: 'zip' })
      await stage.events('click', 1)
    },
  },
  {
    name: 'custom events, those from before the script came too',
    async run(stage) {
      stage.put('/page', { body: `<script>footfall('track', 'early', { plan: 'pro' })</script>` })
      await stage.visit()
      await stage.tab.evaluate(`footfall('track', 'late')`)
      const events = await stage.events('custom', 2)
      expect(events.map(({ name, properties }) => [name, properties])).toEqual([
        ['early', { plan: 'pro' }],
        ['late', {}],
      ])
    },
  },
]
