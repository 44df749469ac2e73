import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { packageRoot } from '../../../../collector/platform/paths.ts'
import type { Case } from '../case.ts'

const video = `data:video/webm;base64,${readFileSync(join(packageRoot, 'examples/shop/assets/wheel.webm')).toString('base64')}`

const shadyDom = readFileSync(
  join(packageRoot, 'node_modules/@webcomponents/shadydom/shadydom.min.js'),
  'utf8',
).replaceAll('</script', '<\\/script')

/** An element whose content is in an open shadow root. */
const inShadow = (id: string, html: string) => `<div id="${id}"></div>
  <script>${id}.attachShadow({ mode: 'open' }).innerHTML = ${JSON.stringify(html).replaceAll('</', '<\\/')}</script>`

const form = (id: string) =>
  `<form id="${id}" action="/to"><input name="city" style="width:200px"><button>Send</button><button id="ask" type="button">Ask</button></form>`

/** Nothing that is clicked leads away. */
const stay = `<script>addEventListener('submit', (event) => event.preventDefault())
  for (const type of ['click', 'auxclick']) addEventListener(type, (event) => event.preventDefault())</script>`

const stayInside = (host: string) => `<script>
  ${host}.shadowRoot.addEventListener('submit', (event) => event.preventDefault())
  ${host}.shadowRoot.querySelector('#ask').onclick = () => ${host}.shadowRoot.querySelector('form').requestSubmit()
  </script>`

const middleClick = (selector: string) => `document.querySelector('${selector}').dispatchEvent(
  new MouseEvent('auxclick', { bubbles: true, composed: true, cancelable: true, button: 1 }))`

export const elements: Case[] = [
  {
    name: 'forms inside shadow roots: by a button, by Enter, by requestSubmit',
    async run(stage) {
      stage.put('/page', { body: `${inShadow('host', form('inner'))}${stayInside('host')}` })
      await stage.visit()
      const focus = (selector: string) =>
        stage.tab.evaluate(`host.shadowRoot.querySelector('${selector}').focus()`)
      await focus('input')
      await stage.tab.press('Enter')
      await stage.events('form_submission', 1)
      await focus('button')
      await stage.tab.press('Enter')
      await stage.events('form_submission', 2)
      await focus('#ask')
      await stage.tab.press('Enter')
      const submissions = await stage.events('form_submission', 3)
      for (const submission of submissions)
        expect(submission).toMatchObject({ form: { id: 'inner' }, fields: ['city'] })
      await stage.settled()
      expect(stage.receiver.events('form_submission')).toHaveLength(3)
    },
  },
  {
    name: 'a form inside a shadow root whose host asks for silence says nothing',
    async run(stage) {
      stage.put('/page', {
        body: `<div data-footfall-ignore>${inShadow('host', form('inner'))}</div>${stayInside('host')}`,
      })
      await stage.visit()
      await stage.tab.evaluate(`host.shadowRoot.querySelector('input').focus()`)
      await stage.tab.press('Enter')
      await stage.settled()
      expect(stage.receiver.events('form_submission')).toEqual([])
    },
  },
  {
    name: 'videos inside shadow roots',
    async run(stage) {
      stage.put('/page', {
        body: `${inShadow('host', `<video id="film" muted src="${video}"></video><button>Play</button>`)}<script>
          host.shadowRoot.querySelector('button').onclick = () => {
            film = host.shadowRoot.querySelector('video'); film.playbackRate = 2; film.play() }</script>`,
      })
      await stage.visit()
      await stage.tab.evaluate(`host.shadowRoot.querySelector('button').focus()`)
      await stage.tab.press('Enter')
      const videos = await stage.events('video', 5)
      expect(videos.map(({ action }) => action)).toEqual([
        'play',
        'progress',
        'progress',
        'progress',
        'ended',
      ])
      expect(videos[0]).toMatchObject({ elementIdentifier: '#film' })
    },
  },
  {
    name: 'two players of one file are told apart by their place',
    async run(stage) {
      const player = `<section><video muted src="${video}"></video></section>`
      stage.put('/page', { body: `${player}${player}` })
      await stage.visit()
      await stage.tab.evaluate(`for (const film of document.querySelectorAll('video')) film.play()`)
      const videos = await stage.events('video', 2)
      const identifiers = new Set(videos.map(({ elementIdentifier }) => elementIdentifier))
      expect(identifiers.size).toBe(2)
    },
  },
  {
    name: 'links by the middle button, areas and links inside an SVG, and files behind them',
    async run(stage) {
      stage.put('/page', {
        body: `${stay}<a id="link" href="/prices.pdf">Prices</a><p id="text">text</p>
          <map name="m"><area id="area" shape="rect" coords="0,0,80,80" href="/plan.zip" alt="Plan"></map>
          <img usemap="#m" width="80" height="80" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">
          <svg width="90" height="90"><a id="drawn" href="/files/drawing.csv"><rect width="90" height="90"/></a></svg>`,
      })
      await stage.visit()
      await stage.tab.evaluate(`${middleClick('#link')}; ${middleClick('#text')}`)
      await stage.tab.evaluate(`document.querySelector('#area').focus()`)
      await stage.tab.press('Enter')
      await stage.tab.click('rect')
      const clicks = await stage.events('click', 3)
      const { pageOrigin } = stage.receiver
      expect(
        clicks.map(({ elementIdentifier, elementText }) => [elementIdentifier, elementText]),
      ).toEqual([
        ['#link', 'Prices'],
        ['#area', 'Plan'],
        ['#drawn', ''],
      ])
      expect(clicks.map(({ element }) => (element as { href: string }).href)).toEqual(
        ['/prices.pdf', '/plan.zip', '/files/drawing.csv'].map((path) => pageOrigin + path),
      )
      const downloads = await stage.events('download', 3)
      expect(downloads.map(({ filename }) => filename)).toEqual([
        'prices.pdf',
        'plan.zip',
        'drawing.csv',
      ])
      await stage.settled()
      expect(stage.receiver.events('click')).toHaveLength(3)
    },
  },
  {
    name: 'what has no text is called by its label, or by that of the image inside',
    async run(stage) {
      const image = 'src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" width="40" height="40"'
      stage.put('/page', {
        body: `${stay}<a id="logo" href="/"><img ${image} alt="Home"></a>
          <button id="close" aria-label="Close"><svg width="20" height="20"></svg></button>
          <img id="photo" ${image} title="A photo">
          <a id="hidden" href="/x"><img ${image} data-footfall-mask alt="Ann Example"></a>`,
      })
      await stage.visit()
      for (const id of ['logo', 'close', 'photo', 'hidden']) await stage.tab.click(`#${id}`)
      const clicks = await stage.events('click', 4)
      expect(clicks.map(({ elementText }) => elementText)).toEqual([
        'Home',
        'Close',
        'A photo',
        '***',
      ])
      expect(JSON.stringify(stage.receiver.state.received)).not.toContain('Ann Example')
    },
  },
  {
    name: 'the action of a form is relative to the base of its page',
    async run(stage) {
      stage.put('/page', {
        head: '<base href="https://forms.example/de/">',
        body: `<form id="f" action="send" onsubmit="return false"><button>Send</button></form>`,
      })
      await stage.visit()
      await stage.tab.click('button')
      const [submission] = await stage.events('form_submission', 1)
      expect(submission).toMatchObject({ form: { action: 'https://forms.example/de/send' } })
    },
  },
  {
    name: 'clicks in the shadow roots that a polyfill makes, as on pages under Polymer',
    async run(stage) {
      stage.put('/page', {
        head: `<script>ShadyDOM = { force: true }; ${shadyDom}</script>`,
        body: `<button id="outside">Outside</button><div id="app"></div><script>
          const root = app.attachShadow({ mode: 'open' })
          const button = document.createElement('button')
          button.id = 'inside'
          button.textContent = 'Inside'
          root.appendChild(button)
          </script>`,
      })
      await stage.visit()
      // The roots are not the browser's.
      expect(await stage.tab.evaluate('ShadyDOM.inUse')).toBe(true)
      for (const found of [
        `document.querySelector('#outside')`,
        `app.shadowRoot.querySelector('#inside')`,
      ]) {
        await stage.tab.evaluate(`${found}.focus()`)
        await stage.tab.press('Enter')
      }
      const clicks = await stage.events('click', 2)
      expect(clicks.map(({ elementIdentifier }) => elementIdentifier)).toEqual([
        '#outside',
        '#inside',
      ])
    },
  },
  {
    name: 'what is cut tells as what is copied does, never what people wrote',
    async run(stage) {
      stage.put('/page', { body: '<p>some text</p><textarea>private</textarea>' })
      await stage.visit()
      const cut = (
        selector: string,
      ) => `getSelection().selectAllChildren(document.querySelector('p'))
        document.querySelector('${selector}').dispatchEvent(new ClipboardEvent('cut', { bubbles: true, composed: true }))`
      await stage.tab.evaluate(cut('p'))
      await stage.tab.evaluate(cut('textarea'))
      const copies = await stage.events('copy', 2)
      // The first waits for the code of copies.
      expect(copies.map(({ text }) => text).sort()).toEqual(['***', 'some text'])
    },
  },
]
