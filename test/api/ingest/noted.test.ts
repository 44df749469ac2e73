import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventTypeOf } from '../../../schemas/captured.ts'
import { ask, beaconOf, postBeacon, receiptOf } from '../../harness/api.ts'
import { type Answering, waitFor } from '../../harness/service.ts'
import { openTenant } from '../../harness/sharedApp.ts'

let service: Answering
beforeAll(async () => {
  service = (await openTenant()).service
})
afterAll(() => service.stop())

const url = 'https://shop.example/page?q=red+shoes&page=2'
const timestamp = new Date().toISOString()

/** Sends what the pixel notes; answers what is stored of it, by type. */
async function stored(
  type: string,
  noted: object,
): Promise<Record<string, Record<string, unknown>>> {
  const path = `/${randomUUID()}`
  const event = {
    type,
    id: Math.random(),
    url: url.replace('/page', path),
    at: timestamp,
    ...noted,
  }
  const receipt = await receiptOf(await postBeacon(service.url, beaconOf(service, [event, event])))
  expect(receipt).toMatchObject({ accepted: 2, rejected: [] })
  // What one beacon brings becomes readable at once.
  const rows = await waitFor('the rows', async () => {
    const answer = await ask(service, `/api/v3/events/web_event?filter=page_path:eq:${path}`)
    const { rows } = (await answer.json()) as { rows: { event_type: string; event_data: string }[] }
    return rows.length > 0 ? rows : null
  })
  // Sent twice, stored once.
  expect(new Set(rows.map(({ event_type }) => event_type)).size).toBe(rows.length)
  return Object.fromEntries(
    rows.map(({ event_type, event_data }) => {
      const { url: _, timestamp: at, ...data } = JSON.parse(event_data)
      expect(at).toBe(timestamp)
      return [event_type, data]
    }),
  )
}

const button = { tag: 'button', nth: 2, class: 'css-1x2y3z', 'aria-label': 'Close' }
const clicked = { clientX: 1, clientY: 2, text: '' }

test.concurrent('a click: the fields of the specification, and marks where they say something', async () => {
  expect(
    await stored('click', { ...clicked, path: [button, { tag: 'main' }], text: ' Close \n  it ' }),
  ).toEqual({
    click: {
      element: {
        ariaLabel: 'Close',
        className: 'css-1x2y3z',
        tagName: 'BUTTON',
        id: null,
        href: null,
      },
      elementIdentifier: 'button[aria-label=Close]',
      elementText: 'Close it',
      coordinates: { x: 1, y: 2 },
    },
  })
  const link = async (href: string) =>
    (await stored('click', { ...clicked, path: [{ tag: 'a', href }] })).click
  expect(await link('https://other.example/')).toMatchObject({ link: 'outbound' })
  expect(await link('tel:+31')).toMatchObject({ link: 'tel' })
  expect(await link('mailto:a@b.example')).toMatchObject({ link: 'mailto' })
  const plain = await link('https://shop.example/next')
  expect(plain).not.toHaveProperty('link')
  // The content of a field is not reported as masked.
  const { click: field } = await stored('click', {
    ...clicked,
    path: [{ tag: 'input', name: 'city' }, false],
    text: '***',
  })
  expect(field).toMatchObject({ elementIdentifier: 'input[name=city]', elementText: '' })
  // Without a text the name of an element is its label, or that of its content.
  const named = async (noted: object) =>
    (await stored('click', { ...clicked, ...noted })).click!.elementText
  expect(await named({ path: [{ tag: 'area', alt: 'Plan' }] })).toBe('Plan')
  expect(await named({ path: [{ tag: 'a' }], label: { tag: 'img', alt: 'Home' } })).toBe('Home')
})

test.concurrent('the middle button clicks links only; a link inside an SVG says where it leads as written', async () => {
  const drawn = { ...clicked, path: [{ tag: 'rect' }, { tag: 'a', href: '/files/a.pdf' }] }
  const { click, download } = await stored('auxclick', drawn)
  expect(click).toMatchObject({ elementIdentifier: 'a>rect' })
  expect(download).toMatchObject({ href: 'https://shop.example/files/a.pdf', filename: 'a.pdf' })
  const event = {
    type: 'auxclick',
    id: Math.random(),
    url,
    at: Date.now(),
    ...clicked,
    path: [button],
  }
  const receipt = await receiptOf(await postBeacon(service.url, beaconOf(service, [event])))
  expect(receipt).toMatchObject({ accepted: 1, rejected: [] })
})

test.concurrent('clicks that were judged are custom events', async () => {
  const { custom } = await stored('rage', { ...clicked, path: [button], text: 'Close' })
  expect(custom).toEqual({
    name: 'rage_click',
    properties: {
      elementIdentifier: 'button[aria-label=Close]',
      elementText: 'Close',
      coordinates: { x: 1, y: 2 },
    },
  })
  expect((await stored('dead', { ...clicked, path: [button] })).custom).toMatchObject({
    name: 'dead_click',
  })
})

test.concurrent('times in milliseconds, and URLs that are too long, which lose their end only', async () => {
  const at = Date.parse(timestamp)
  expect(await stored('copy', { at, text: 'a', textLength: 1 })).toEqual({
    copy: { text: 'a', textLength: 1 },
  })
  const long = `https://shop.example/long/${randomUUID()}?${'x'.repeat(9000)}`
  const event = { type: 'cut', id: Math.random(), url: long, at, text: 'a', textLength: 1 }
  const receipt = await receiptOf(await postBeacon(service.url, beaconOf(service, [event])))
  expect(receipt).toMatchObject({ accepted: 1, rejected: [] })
})

test.concurrent('a replaced query is no page view, but a search where it shows one', async () => {
  const page = { title: 'Shop', referrer: '', sizes: [4, 3, 2, 1], replaced: true }
  expect(Object.keys(await stored('page', page))).toEqual(['search'])
})

test.concurrent('a click on a file is a download too, one inside a marked element its event too', async () => {
  const download = async (link: object) =>
    (await stored('click', { ...clicked, path: [{ tag: 'img' }, { tag: 'a', ...link }] })).download
  const prices = 'https://shop.example/a/price%20list.PDF?v=2#p'
  expect(await download({ href: prices })).toEqual({
    href: prices,
    filename: 'price list.PDF',
    extension: 'pdf',
  })
  const marked = await download({ href: 'https://shop.example/100%.xyz', download: '' })
  expect(marked).toMatchObject({ filename: '100%.xyz', extension: 'xyz' })
  expect(await download({ href: 'https://shop.example/about.html' })).toBeUndefined()
  const plan = {
    tag: 'b',
    'data-footfall-event': 'plan',
    'data-footfall-prop-kind-of': 'pro',
    id: 'x',
  }
  const form = { tag: 'form', 'data-footfall-event': 'joined' }
  const far = [...Array(7).fill(false), plan]
  expect(
    (
      await stored('click', {
        ...clicked,
        path: [button, form, ...far],
        properties: { shop: 'nl' },
      })
    ).custom,
  ).toEqual({ name: 'plan', properties: { shop: 'nl', 'kind-of': 'pro' } })
  expect((await stored('submit', { form, fields: [], prevented: undefined })).custom).toEqual({
    name: 'joined',
    properties: {},
  })
})

test.concurrent('an event that follows from a click and is refused is told as it was sent', async () => {
  const path = `/${randomUUID()}`
  const plan = {
    tag: 'b',
    'data-footfall-event': 'plan',
    'data-footfall-prop-long': 'x'.repeat(17_000),
  }
  const page = url.replace('/page', path)
  const event = { type: 'click', id: 0.5, url: page, at: timestamp, ...clicked, path: [plan] }
  const properties = '{"order":6742005955800414303}'
  const beacon = JSON.stringify(beaconOf(service, [{ ...event, properties: 0 }]))
  const receipt = await postBeacon(
    service.url,
    beacon.replace('"properties":0', `"properties":${properties}`),
  )
  expect(await receiptOf(receipt)).toMatchObject({ accepted: 1, rejected: [] })
  const refused = await waitFor('the refused event', async () => {
    const answer = await ask(service, '/api/v1/rejected_events')
    const { rejected_events } = (await answer.json()) as { rejected_events: { event: string }[] }
    return rejected_events.find(({ event }) => event.includes(path))
  })
  expect(refused).toMatchObject({ path: '/event_data/properties' })
  expect(refused.event).toContain('"order":6742005955800414303,"long":"xxx')
})

test.concurrent('a form: its fields by name, without secret ones and buttons; a search where nothing else will show it', async () => {
  const form = { tag: 'form', name: 'f', action: '/join', method: 'POST', class: 'x' }
  const fields = [
    'a text ',
    'b select-one on',
    'a checkbox ',
    ' text ',
    'pin password ',
    'csrf hidden ',
    'go submit ',
    'card text billing cc-number',
    'x fieldset undefined',
    'full name text name',
  ].map((kind) => [kind, false])
  expect(await stored('submit', { form, fields, prevented: false })).toEqual({
    form_submission: {
      form: { id: null, name: 'f', action: 'https://shop.example/join', method: 'post' },
      fields: ['a', 'b', 'full name'],
    },
  })
  const search = async (field: [string, string], isHandled: boolean, method = 'get') =>
    (
      await stored('submit', {
        form: { tag: 'form', method },
        fields: [field],
        prevented: isHandled && field[1],
      })
    ).search
  expect(await search(['q text ', ' red  shoes '], true)).toEqual({
    query: 'red shoes',
    results_count: null,
  })
  expect(await search(['q text ', 'red'], false)).toBeUndefined()
  expect(await search(['q text ', 'red'], false, 'post')).toMatchObject({ query: 'red' })
  expect(await search(['term search ', 'red'], false)).toMatchObject({ query: 'red' })
})

test.concurrent('a page view is a search too where its URL shows a new one', async () => {
  const page = { title: 'Shop', referrer: '', sizes: [4, 3, 2, 1] }
  const search = async (noted: object) => (await stored('page', { ...page, ...noted })).search
  expect(await stored('page', { ...page, results: '12 results' })).toEqual({
    page_view: {
      title: 'Shop',
      referrer: null,
      screen: { height: 3, width: 4 },
      viewport: { height: 1, width: 2 },
    },
    search: { query: 'red shoes', results_count: 12 },
  })
  expect(await search({ searched: 'red shoes' })).toBeUndefined()
  expect(await search({ referrer: 'https://shop.example/page?q=red+shoes' })).toBeUndefined()
  expect(await search({ referrer: 'https://other.example/?q=red+shoes' })).toMatchObject({
    results_count: null,
  })
})

test.concurrent('videos and embedded players, never audio, nor the pause that ends one', async () => {
  const playing = {
    currentSrc: 'https://shop.example/film.webm',
    currentTime: 5.2,
    duration: 10,
    ended: false,
  }
  const element = { tag: 'video', title: 'Film' }
  expect((await stored('timeupdate', { ...playing, path: [element] })).video).toMatchObject({
    title: 'Film',
    action: 'progress',
    percent: 50,
    position: 5.2,
  })
  const receipt = await receiptOf(
    await postBeacon(
      service.url,
      beaconOf(service, [
        { type: 'play', id: 1, url, at: timestamp, ...playing, element: { tag: 'audio' } },
        { type: 'pause', id: 2, url, at: timestamp, ...playing, element, ended: true },
      ]),
    ),
  )
  // Understood, and no events.
  expect(receipt).toMatchObject({ accepted: 2, rejected: [] })
})

test.concurrent('secrets in URLs are not stored, whoever sent them', async () => {
  const secret =
    'https://shop.example/a?token=s3cret&page=2&user_email=a%40b.example#access_token=s3cret'
  const click = await stored('click', { ...clicked, path: [{ tag: 'a', href: secret }] })
  const track = await stored('track', { name: 'shared', properties: { on: [`see ${secret}`] } })
  for (const noted of [click, track]) {
    expect(JSON.stringify(noted)).not.toMatch(/s3cret|b\.example/)
    expect(JSON.stringify(noted)).toContain('page=2')
  }
  const signedIn = 'https://ann:p@ss@shop.example/@ann?to=b@c.example'
  const link = await stored('click', { ...clicked, path: [{ tag: 'a', href: signedIn }] })
  const said = await stored('track', {
    name: 'shared',
    properties: { on: [`see ${signedIn} by a@b.example`] },
  })
  expect(link.click).toMatchObject({
    element: { href: 'https://shop.example/@ann?to=b@c.example' },
  })
  expect(said.custom).toMatchObject({
    properties: { on: ['see https://shop.example/@ann?to=b@c.example by a@b.example'] },
  })
  const event_id = randomUUID()
  const size = { height: 1, width: 1 }
  const event_data = {
    url: secret,
    title: '',
    referrer: secret,
    screen: size,
    viewport: size,
    timestamp,
  }
  const event = { event_id, event_type: 'page_view', event_data }
  await postBeacon(service.url, beaconOf(service, [event]))
  const row = await waitFor('the row', async () => {
    const answer = await ask(service, `/api/v3/events/web_event?filter=event_id:eq:${event_id}`)
    return ((await answer.json()) as { rows: { event_data: string }[] }).rows[0]
  })
  const plain = 'https://shop.example/a?page=2'
  expect(JSON.parse(row.event_data)).toMatchObject({ url: plain, referrer: plain })
  const harmless = 'https://shop.example/?monkey=1&postcode=1234&keyword=x&promo_code=SALE'
  const { custom } = await stored('track', { name: 'n', properties: { harmless } })
  expect(custom).toMatchObject({ properties: { harmless } })
})

test.concurrent('who a browser belongs to: by identify, surer than by a form; without consent nothing', async () => {
  const link = async (hem: string, hem_source: 'form' | undefined, cookie_id: string | null) => {
    const person = { type: 'identify', id: Math.random(), url, at: timestamp, hem, hem_source }
    const view = {
      type: 'track',
      id: Math.random(),
      url,
      at: timestamp,
      name: 'seen',
      properties: {},
    }
    const answer = await postBeacon(service.url, beaconOf(service, [person, view], { cookie_id }))
    expect(answer.status).toBe(200)
    const receipt = await receiptOf(answer)
    expect(receipt).toMatchObject({ accepted: 2, rejected: [] })
    return receipt.cookie_id
  }
  const hemOf = (cookie_id: string) => async () => {
    const query = `filter=cookie_id:eq:${cookie_id},resolved:eq:true&select=hem`
    const answer = await ask(service, `/api/v3/events/resolution_hem?${query}`)
    return ((await answer.json()) as { rows: { hem: string }[] }).rows[0]?.hem
  }
  const cookieId = randomUUID()
  await link('a'.repeat(64), 'form', cookieId)
  expect(await waitFor('the link', hemOf(cookieId))).toBe('a'.repeat(64))
  await link('b'.repeat(64), undefined, cookieId)
  await waitFor('the surer link', async () => (await hemOf(cookieId)()) === 'b'.repeat(64))
  await link('c'.repeat(64), 'form', cookieId)
  const idOfDay = await link('d'.repeat(64), undefined, null)
  const envelope = { cookie_id: randomUUID(), hem: 'e'.repeat(64), hem_source: 'form' }
  const view = { type: 'track', id: 0.5, url, at: timestamp, name: 'seen', properties: {} }
  await postBeacon(service.url, beaconOf(service, [view], envelope))
  expect(await waitFor('the last link', hemOf(envelope.cookie_id))).toBe('e'.repeat(64))
  expect(await hemOf(cookieId)()).toBe('b'.repeat(64))
  expect(await hemOf(idOfDay)()).toBeUndefined()
})

test.concurrent('nonsense in place of what the pixel notes costs only itself', async () => {
  const nonsense = [
    null,
    5,
    'x',
    [],
    {},
    { tag: 5 },
    [null, { tag: {} }],
    [{ tag: 'a', href: {}, nth: 'x' }],
  ]
  const types = Object.keys(eventTypeOf)
  const keys = [
    'path',
    'element',
    'form',
    'fields',
    'sizes',
    'referrer',
    'properties',
    'title',
    'text',
    'hem',
  ]
  const events = [...types, 'other', '__proto__', 'toString'].flatMap((type) =>
    nonsense.map((value) => ({
      type,
      id: value,
      url,
      at: timestamp,
      ...Object.fromEntries(keys.map((key) => [key, value])),
    })),
  )
  const answer = await postBeacon(service.url, beaconOf(service, events))
  expect(answer.status).toBe(200)
  const { accepted, rejected } = await receiptOf(answer)
  expect(accepted + rejected.length).toBe(events.length)
  expect(accepted).toBeLessThan(events.length / 4)
})

test('what says too little is rejected with a reason, and what is too much; their neighbours are stored', async () => {
  const common = { url, at: timestamp, properties: {} }
  const throwing = { toString: 1, valueOf: 1 }
  // As text: nothing of JavaScript's own can write it.
  const deep = `${'{"a":'.repeat(6_000)}1${'}'.repeat(6_000)}`
  const bad: [object, string][] = [
    [{ type: 'track' }, '/name'],
    [{ type: 'track', name: throwing }, '/event_data/name'],
    [{ type: 'click', path: [] }, '/path'],
    [{ type: 'click', path: [{ tag: throwing }] }, '/path'],
    [{ type: 'submit', form: 5 }, '/form'],
    [{ type: 'play' }, '/path'],
    [{ type: 'scroll', percentage: throwing, threshold: 25 }, '/event_data/percentage'],
    [{ type: 'page', title: '', sizes: [1, 1, 1, 1], referrer: throwing }, '/event_data/referrer'],
    [{ type: 'copy', text: throwing, textLength: 1 }, '/event_data/text'],
    [{ type: 'identify', hem: throwing }, '/hem'],
    [{ type: 'identify', hem: 'A'.repeat(64) }, '/hem'],
    [{ type: 'hover' }, '/type'],
    [{ type: throwing }, '/type'],
    [
      { type: 'track', name: 'deep', properties: { deep: '@deep@' } },
      `/properties/deep${'/a'.repeat(31)}`,
    ],
    [
      { type: 'track', name: 'wide', properties: { wide: Array.from({ length: 5_001 }, () => 0) } },
      '/properties/wide',
    ],
    [{ type: 'track', name: 'x', at: throwing }, '/event_data/timestamp'],
  ]
  for (const [event, path] of bad) {
    const good = { type: 'track', name: 'neighbour', id: Math.random(), ...common }
    const beacon = beaconOf(service, [good, { id: Math.random(), ...common, ...event }])
    const answer = await postBeacon(service.url, JSON.stringify(beacon).replace('"@deep@"', deep))
    expect(answer.status, path).toBe(200)
    const { accepted, rejected } = await receiptOf(answer)
    expect([accepted, rejected.length, rejected[0]?.index], path).toEqual([1, 1, 1])
    expect(rejected[0]!.path, JSON.stringify(rejected)).toBe(path)
  }
  // In places that are read and not kept, they cost nothing.
  const odd = {
    type: 'submit',
    id: 0.5,
    ...common,
    form: { tag: 'form', method: throwing },
    fields: [[throwing]],
  }
  expect(await receiptOf(await postBeacon(service.url, beaconOf(service, [odd])))).toMatchObject({
    accepted: 1,
    rejected: [],
  })
}, 600_000)

test('a __proto__ key is found however it is written', async () => {
  const event = { type: 'track', id: 0.5, url, at: timestamp, name: 'x', properties: { place: 1 } }
  for (const key of ['__proto__', '__pr\\u006fto__', '\\u005F_proto__']) {
    const body = JSON.stringify(beaconOf(service, [event])).replace('place', key)
    const { rejected } = await receiptOf(await postBeacon(service.url, body))
    expect(rejected, key).toMatchObject([
      { path: '/properties/__proto__', message: 'must not be a field name' },
    ])
  }
})

test('referrer_url is on every event where the page has one, without its secrets', async () => {
  const path = `/${randomUUID()}`
  const referrer = 'https://search.example/?q=pots&token=s3cret'
  const common = { url: url.replace('/page', path), at: timestamp, referrer }
  const noted = [
    { type: 'click', ...clicked, path: [{ tag: 'a', href: '/a.pdf', download: '' }] },
    { type: 'scroll', percentage: 51, threshold: 50 },
    { type: 'track', name: 'x', properties: {} },
  ].map((event) => ({ ...event, ...common, id: Math.random() }))
  const event_data = { url: common.url, text: 'x', textLength: 1, timestamp, referrer }
  const complete = { event_id: randomUUID(), event_type: 'copy', event_data }
  const odd = {
    ...complete,
    event_id: randomUUID(),
    event_data: { ...event_data, referrer: { toString: 1 } },
  }
  const receipt = await receiptOf(
    await postBeacon(service.url, beaconOf(service, [...noted, complete, odd])),
  )
  expect(receipt).toMatchObject({ accepted: 5, rejected: [] })
  const rows = await waitFor('the rows', async () => {
    const answer = await ask(service, `/api/v3/events/web_event?filter=page_path:eq:${path}`)
    const { rows } = (await answer.json()) as {
      rows: { event_id: string; referrer_url: string | null }[]
    }
    return rows.length === 6 ? rows : null
  })
  for (const { event_id, referrer_url } of rows)
    expect(referrer_url).toBe(event_id === odd.event_id ? null : 'https://search.example/?q=pots')
})
