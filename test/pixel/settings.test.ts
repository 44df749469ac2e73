import fc from 'fast-check'
import { Type } from 'typebox'
import { Check } from 'typebox/value'
import { expect, it } from 'vitest'
import { requireSelectors } from '../../collector/accounts/pixels/maskSelectors.ts'
import {
  collectorSettingsSchema,
  defaultCollectorSettings,
  defaultPixelSettings,
  pixelSettingsSchema,
} from '../../schemas/beacon.ts'
import { usePixel } from './harness.ts'

const pixel = usePixel()

it('the defaults are settings; a setting that does not exist, or is of another type, is none', () => {
  expect(Check(pixelSettingsSchema, defaultPixelSettings)).toBe(true)
  expect(Check(collectorSettingsSchema, defaultCollectorSettings)).toBe(true)
  const body = Type.Partial(pixelSettingsSchema, { additionalProperties: false })
  expect(Check(body, { mask_selectors: ['.name'], web_vitals: true })).toBe(true)
  for (const wrong of [
    { other: 1 },
    { consent: 'maybe' },
    { text_length_max: -1 },
    { mask_selectors: ['<b>'] },
    { ignore_query_parameters: ['a=b'] },
    { download_extensions: ['.PDF'] },
  ])
    expect(Check(body, wrong)).toBe(false)
})

it('mask_selectors mask as the attribute does: texts, labels, copies', async () => {
  await pixel.visit({
    settings: { mask_selectors: ['.name', '[itemprop=email]'] },
    body: `<button class="name" aria-label="Ann Example">Ann Example</button>
      <div class="name"><button id="inner" title="Ann Example">Ann Example</button></div>
      <p>mail <i itemprop="email">ann@x.org</i></p>`,
  })
  await pixel.page.click('button.name')
  await pixel.page.click('#inner')
  await pixel.page.evaluate(`getSelection().selectAllChildren(document.querySelector('p'))`)
  await pixel.page.keyboard.press('Control+c')
  const clicks = await pixel.events('click', 2)
  expect(clicks.map(({ elementText }) => elementText)).toEqual(['***', '***'])
  const [copy] = await pixel.events('copy', 1)
  expect(copy).toMatchObject({ text: '***', textLength: 14 })
  expect(JSON.stringify(pixel.receiver.state.received)).not.toMatch(/Ann|ann@x/)
})

/** Pieces that selectors are made of, and some that break them. */
const pieces = [
  'a',
  'div',
  '*',
  '.name',
  '#id',
  '.1a',
  '#-1',
  '[href]',
  '[a=b]',
  '[a="b"]',
  '[a=1]',
  '[a=-b]',
  '[a~=b i]',
  '[a!=b]',
  '[a|=b]',
  "[a*='x,y']",
  '[a',
  '[]',
  ':first-child',
  ':nth-child(2n+1)',
  ':nth-child(2n 1)',
  ':nth-child()',
  ':not(.a)',
  ':not()',
  ':is(a,b)',
  ':where(a > b)',
  ':is(> a)',
  ':contains(x)',
  ':hover',
  ':nonsense',
  '::before',
  ':before',
  ':has(a)',
  ' ',
  ' > ',
  '>',
  '+',
  '~',
  '||',
  '<',
  ',',
  '|',
  'svg|a',
  '*|a',
  '\\',
  '\\31 a',
  '\\,',
  '"',
  "'",
  '/*',
  '*/',
  '(',
  ')',
  '-',
  '--x',
  '!',
  '@',
  '$',
]

it('mask_selectors are saved only when every browser takes them, alone and beside others', async () => {
  const isSaved = (selector: string) => {
    try {
      requireSelectors([selector], 'x')
      return true
    } catch {
      return false
    }
  }
  const selector = fc
    .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 5 })
    .map((parts) => parts.join(''))
  const tried = [...new Set([...pieces, ...fc.sample(selector, { numRuns: 20_000, seed: 1 })])]
  const saved = tried.filter(isSaved)
  expect(saved.length).toBeGreaterThan(500)
  for (const good of [
    '.name',
    '[itemprop=email]',
    'form#pay > .card input',
    ':not(.a, .b) ~ p',
    'li:nth-child(2n + 1)',
  ])
    expect(isSaved(good), good).toBe(true)
  for (const bad of [
    'a >',
    '.a {',
    '[a=1]',
    ':nope',
    '::before',
    'a /*',
    'a\\',
    '',
    ' ',
    'a,',
    ':is(',
    '[a="b]',
  ])
    expect(isSaved(bad), bad).toBe(false)
  await pixel.visit()
  const refused = await pixel.page.evaluate(`${JSON.stringify(saved)}.filter((selector) => {
    try { document.body.matches(['.x', selector, '.y'].join()); document.body.matches(selector) } catch { return true }
  })`)
  expect(refused).toEqual([])
})

it('a selector that the browser refuses costs no event: then all is masked', async () => {
  await pixel.visit({
    settings: { mask_selectors: ['.name', ':nonsense('] },
    body: '<button aria-label="Ann Example">Ann Example</button>',
  })
  await pixel.page.click('button')
  const [click] = await pixel.events('click', 1)
  expect(click).toMatchObject({ elementText: '***' })
  expect(JSON.stringify(pixel.receiver.state.received)).not.toContain('Ann')
})

it('a setting that reads like a placeholder of the script is a value', async () => {
  await pixel.visit({
    settings: { mask_selectors: ['__FOOTFALL_unread__', '__FOOTFALL_masked__', '.$&'] },
    body: '<button>Buy</button>',
  })
  await pixel.page.click('button')
  await pixel.events('click', 1)
})

it('secrets are kept in no URL: not in page, referrer, links, forms, videos or properties', async () => {
  pixel.put({
    path: '/next',
    settings: { ignore_query_parameters: ['customer'] },
    body: `<a id="link" href="/a?api_key=s3cret&page=2" onclick="return false">link</a>
      <form id="form" action="/b?token=s3cret" onsubmit="return false"><button id="send">send</button></form>
      <video src="/film.webm?sig=s3cret"></video>`,
  })
  await pixel.page.goto(
    `${pixel.receiver.pageOrigin}/next?email=s3cret@x.org&page=1&customer=s3cret#access_token=s3cret`,
  )
  await pixel.page.waitForFunction('footfall.on')
  await pixel.page.evaluate(`
    history.pushState({}, '', '/next?code=s3cret&reset_token=s3cret&page=3')
    document.querySelector('video').dispatchEvent(new Event('play'))
    footfall('track', 'shared', { url: 'https://x.example/?session_id=s3cret&page=4' })`)
  await pixel.page.click('#link')
  await pixel.page.click('#send')
  await pixel.settled()
  const sent = JSON.stringify(pixel.receiver.state.received)
  expect(sent).not.toContain('s3cret')
  for (const page of [1, 2, 3, 4]) expect(sent).toContain(`page=${page}`)
})

it('a push to the same page with another fragment is none without it', async () => {
  await pixel.visit()
  await pixel.page.evaluate(
    `history.pushState({}, '', '#top'); history.replaceState({}, '', '#bottom')`,
  )
  await pixel.settled()
  await pixel.events('page_view', 1)
})

it('search_parameters, download_extensions, text_length_max', async () => {
  await pixel.visit({
    settings: { search_parameters: ['find.it'], download_extensions: ['xyz'], text_length_max: 4 },
    url: '/page?find.it=vase&q=other',
    body: '<a href="/a.xyz" download>12345678</a><a id="pdf" href="/a.pdf" onclick="return false">pdf</a>',
  })
  await pixel.page.click('a')
  await pixel.page.click('#pdf')
  const [search] = await pixel.events('search', 1)
  expect(search).toMatchObject({ query: 'vase' })
  const [click] = await pixel.events('click', 2)
  expect(click).toMatchObject({ elementText: '1234' })
  const [download] = await pixel.events('download', 1)
  expect(download).toMatchObject({ filename: 'a.xyz' })
})
