import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  ask,
  beaconOf,
  chrome,
  customEvent,
  postBeacon,
  readEvent,
  readRows,
  receiptOf,
} from '../../harness/api.ts'
import { type Answering, waitFor } from '../../harness/service.ts'
import { openTenant } from '../../harness/sharedApp.ts'
import { quickest } from '../../harness/timing.ts'

let service: Answering
beforeAll(async () => {
  service = (await openTenant()).service
})
afterAll(() => service.stop())

const post = (body: unknown, headers?: Record<string, string>) =>
  postBeacon(service.url, body, headers)

const nasty = {
  quotes: `it's "quoted" and \`ticked\``,
  sql: "'; DROP TABLE events; --",
  comma: 'a,b:c,,d:eq',
  percent: '100 % of _ % \\% \\_',
  backslash: 'C:\\new\\table\\\\',
  emoji: '👩‍👩‍👧 😀 é',
  control: '\u0001\t\r\n\u2028',
}

describe('an accepted event', () => {
  test('is readable within two seconds', async () => {
    const sendAndRead = async () => {
      const event = customEvent()
      expect((await post(beaconOf(service, [event]))).status).toBe(200)
      await readEvent(service, event.event_id)
    }
    expect(await quickest(2_000, sendAndRead)).toBeLessThan(2_000)
  })

  test('is read back with every column as sent or derived', async () => {
    const cookie_id = randomUUID()
    const event = customEvent({ plan: 'gold' })
    event.event_data.url = 'https://User:Pw@Shop.Example:8443/a/b?c=d#e'
    const answer = await post(beaconOf(service, [event], { cookie_id }))
    expect(answer.status).toBe(200)
    expect(await receiptOf(answer)).toEqual({ cookie_id, accepted: 1, rejected: [] })

    const row = await readEvent(service, event.event_id)
    expect(row).toEqual({
      event_id: event.event_id,
      event_type: 'custom',
      ts_millis: Date.parse(event.event_data.timestamp),
      timestamp: event.event_data.timestamp,
      resolved: false,
      event_data: JSON.stringify(event.event_data),
      cookie_id,
      user_agent: chrome,
      referrer_url: null,
      client_ip: '127.0.0.0',
      pixel_id: service.demo.pixel_id,
      project_id: service.demo.project_id,
      source: 'pixel',
      campaign_id: null,
      spend: null,
      page_url: event.event_data.url,
      page_host: 'shop.example:8443',
      page_path: '/a/b',
      browser: 'Chrome',
      browser_version: '140.0.0.0',
      os: 'Linux',
      os_version: null,
      device_type: 'desktop',
      is_bot: false,
      bot_reason: null,
      country: null,
      region: null,
      city: null,
      language: null,
      screen_width: null,
      viewport_width: null,
      utm_source: null,
      utm_medium: null,
      utm_campaign: null,
      utm_term: null,
      utm_content: null,
      click_id_type: null,
      click_id: null,
      referrer_host: null,
      received_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })
  })

  test('keeps quotes, commas, colons, percent signs, backslashes, emoji, controls and SQL unharmed', async () => {
    const event = customEvent(nasty)
    await post(beaconOf(service, [event]))
    const row = await readEvent(service, event.event_id)
    expect(JSON.parse(row.event_data as string).properties).toEqual(nasty)
    for (const [key, value] of Object.entries(nasty)) {
      const found = await readRows(service, {
        filter: `event_data.properties.${key}:eq:${value}`,
        select: 'event_id',
      })
      expect(found, key).toContainEqual({ event_id: event.event_id })
    }
  })

  test('of a page without a host, sent without a user agent, has null for these and no empty text', async () => {
    const events = ['about:blank', 'file:///home/a.html'].map((url) => {
      const event = customEvent()
      return { ...event, event_data: { ...event.event_data, url } }
    })
    await post(beaconOf(service, events), { 'user-agent': '' })
    const [blank, file] = await Promise.all(
      events.map(({ event_id }) => readEvent(service, event_id)),
    )
    const unknown = {
      user_agent: null,
      device_type: null,
      is_bot: true,
      bot_reason: 'no user agent',
    }
    expect(blank).toMatchObject({
      ...unknown,
      page_url: 'about:blank',
      page_host: null,
      page_path: null,
    })
    expect(file).toMatchObject({ ...unknown, page_host: null, page_path: '/home/a.html' })
    for (const row of [blank!, file!]) expect(Object.values(row)).not.toContain('')
  })

  test('with half a surrogate pair or U+0000 is made well-formed, and so found by a filter', async () => {
    const event = customEvent({
      half: 'a\ud800b',
      nul: 'a\u0000b',
      '\udc00': 1,
      escaped: '\\u0000\\ud800',
    })
    event.event_data.url = 'http://shop.example/\ud83d'
    await post(beaconOf(service, [event]))
    const row = await readEvent(service, event.event_id)
    expect(row.page_url).toBe('http://shop.example/\ufffd')
    const { url, properties } = JSON.parse(row.event_data as string)
    expect(url).toBe(row.page_url)
    expect(properties).toEqual({
      half: 'a\ufffdb',
      nul: 'a\ufffdb',
      '\ufffd': 1,
      escaped: '\\u0000\\ud800',
    })
    for (const key of ['half', 'nul']) {
      const found = await readRows(service, {
        filter: `event_data.properties.${key}:eq:a\ufffdb`,
        select: 'event_id',
      })
      expect(found, key).toContainEqual({ event_id: event.event_id })
    }
  })

  test('an integer beyond 64 bits is a text with its digits, and the event is found by all it says', async () => {
    const event = customEvent({ plan: 'pro', large: 1, least: 2, most: 3, whole: 4, exponent: 5 })
    const beyond = '18446744073709551616'
    const body = JSON.stringify(beaconOf(service, [event])).replace(
      '"large":1,"least":2,"most":3,"whole":4,"exponent":5',
      `"large":${beyond},"least":-9223372036854775808,"most":18446744073709551615,"whole":${beyond}.0,"exponent":15e19`,
    )
    expect(await receiptOf(await post(body))).toMatchObject({ accepted: 1 })
    const row = await readEvent(service, event.event_id)
    expect(row.event_data).toContain(
      `"large":"${beyond}","least":-9223372036854775808,"most":18446744073709551615,` +
        '"whole":1.8446744073709552e+19,"exponent":1.5e+20',
    )
    for (const about of [
      'plan:eq:pro',
      `large:eq:${beyond}`,
      'exponent:gt:1e20',
      'whole:lt:1e20',
    ]) {
      const found = await readRows(service, {
        filter: `event_id:eq:${event.event_id},event_data.properties.${about}`,
        select: 'event_id',
      })
      expect(found, about).toEqual([{ event_id: event.event_id }])
    }
  })

  test('a number beyond 64 bits where a schema asks for one stays a number', async () => {
    const { url, timestamp } = customEvent().event_data
    const copied = { event_id: randomUUID(), event_type: 'copy' }
    const event_data = { url, text: 'long', textLength: 4, timestamp }
    const body = JSON.stringify(beaconOf(service, [{ ...copied, event_data }])).replace(
      '"textLength":4',
      '"textLength":99999999999999999999',
    )
    expect(await receiptOf(await post(body))).toMatchObject({ accepted: 1 })
    expect((await readEvent(service, copied.event_id)).event_data).toContain('"textLength":1e+20')
  })

  test('refuses an event with a number that would be infinite, and says where', async () => {
    for (const number of ['1e999', '-1e309', `1${'0'.repeat(400)}.5`]) {
      const events = [customEvent({ deep: [{ n: 2 }] }), customEvent({ n: 1.7e308 })]
      const body = JSON.stringify(beaconOf(service, events)).replace('"n":2', `"n":${number}`)
      const { accepted, rejected } = await receiptOf(await post(body))
      expect([accepted, rejected.length], number).toEqual([1, 1])
      const path = '/event_data/properties/deep/0/n'
      expect(rejected[0], number).toMatchObject({
        index: 0,
        path,
        message: 'must be a number below 1.8e308',
      })
    }
  })

  test('keeps the digits of integers beyond 2^53', async () => {
    const [large, nested, text] = [
      '9007199254740993',
      '-123456789012345678901234567890',
      '9007199254740995',
    ]
    const event = customEvent({ large: 1, nested: [{ n: 2 }], text })
    const body = JSON.stringify(beaconOf(service, [event]))
      .replace('"large":1', `"large":${large}`)
      .replace('"n":2', `"n":${nested}`)
    expect(await receiptOf(await post(body))).toMatchObject({ accepted: 1 })
    const noted = `"type":"track","name":"n","url":"http://shop.example/${event.event_id}"`
    const at = `"at":"${event.event_data.timestamp}","id":0.25`
    const second = JSON.stringify(beaconOf(service, [])).replace(
      '[]',
      `[{${noted},${at},"properties":{"large":${large}}}]`,
    )
    expect(await receiptOf(await post(second))).toMatchObject({ accepted: 1 })
    const place = { x: 1, y: 2 }
    const clicked = {
      element: { ariaLabel: null, className: '' },
      elementIdentifier: '',
      elementText: '',
    }
    const { url, timestamp } = event.event_data
    const click = {
      event_id: randomUUID(),
      event_type: 'click',
      event_data: { url, ...clicked, coordinates: place, timestamp },
    }
    const third = JSON.stringify(beaconOf(service, [click])).replace('"x":1', `"x":${large}`)
    expect(await receiptOf(await post(third))).toMatchObject({ accepted: 1 })
    expect((await readEvent(service, click.event_id)).event_data).toContain(`{"x":${large},"y":2}`)
    const row = await readEvent(service, event.event_id)
    expect(row.event_data).toContain(
      `{"large":${large},"nested":[{"n":"${nested}"}],"text":"${text}"}`,
    )
    const [other] = await waitFor('the other', async () => {
      const rows = await readRows(service, { filter: `page_path:eq:/${event.event_id}` })
      return rows.length > 0 ? rows : null
    })
    expect(other!.event_data).toContain(`{"large":${large}}`)
  })

  test('keeps the digits of an integer that could be the number of a card, and takes it for no text', async () => {
    const large = '6742005955800414303'
    const it = 'stands for it'
    const event = customEvent({ large: it })
    Object.assign(event.event_data, { referrer: it })
    const path = `/${randomUUID()}`
    const about = { url: `http://shop.example${path}`, at: event.event_data.timestamp }
    const step = { tag: 'button', id: it, 'aria-label': it, name: it, 'data-testid': it, title: it }
    const captured = [
      { type: 'track', name: 'n', properties: { large: it }, referrer: it, ...about, id: 0.25 },
      { type: 'click', path: [step], text: it, clientX: 1, clientY: 2, ...about, id: 0.5 },
    ]
    const referred = { event_id: randomUUID(), event_type: 'page_view' }
    const { url, timestamp } = event.event_data
    const size = { width: 1, height: 1 }
    const view = { url, title: '', referrer: it, screen: size, viewport: size, timestamp }
    const events = [event, ...captured, { ...referred, event_data: view }]
    const body = JSON.stringify(beaconOf(service, events)).replaceAll(`"${it}"`, large)
    const { accepted, rejected } = await receiptOf(await post(body))
    expect([accepted, rejected]).toMatchObject([3, [{ index: 3, path: '/event_data/referrer' }]])
    const whole = await readEvent(service, event.event_id)
    expect(whole.event_data).toContain(`{"large":${large}}`)
    expect(whole.event_data).toContain(`"referrer":${large}`)
    expect(whole.referrer_url).toBeNull()
    const made = await waitFor('what was captured', async () => {
      const rows = await readRows(service, { filter: `page_path:eq:${path}` })
      return rows.length === 2 ? rows : null
    })
    const [click, custom] = ['click', 'custom'].map(
      (type) => made.find(({ event_type }) => event_type === type)!,
    )
    expect(custom!.event_data).toContain(`{"large":${large}}`)
    expect(made.map(({ referrer_url }) => referrer_url)).toEqual([null, null])
    expect(JSON.parse(click!.event_data as string)).toMatchObject({
      element: { ariaLabel: null, id: null, tagName: 'BUTTON' },
      elementIdentifier: 'button',
      elementText: '',
    })
  })

  test('keeps keys its schema does not name', async () => {
    const event = customEvent()
    Object.assign(event.event_data, { later: { version: 2 } })
    await post(beaconOf(service, [event]))
    expect(
      JSON.parse((await readEvent(service, event.event_id)).event_data as string).later,
    ).toEqual({
      version: 2,
    })
  })

  test('with an empty referrer has none, as `document.referrer` says it', async () => {
    const { event_id, event_data } = customEvent()
    const { url, timestamp } = event_data
    const size = { height: 600, width: 800 }
    const view = { url, title: 'Shop', referrer: '', screen: size, viewport: size, timestamp }
    const answer = await post(
      beaconOf(service, [{ event_id, event_type: 'page_view', event_data: view }]),
    )
    expect(await receiptOf(answer)).toMatchObject({ accepted: 1, rejected: [] })
    expect(await readEvent(service, event_id)).toMatchObject({
      referrer_url: null,
      event_data: expect.stringContaining('"referrer":null'),
    })
  })

  test('of a bot is marked with the reason, not dropped', async () => {
    const event = customEvent()
    await post(beaconOf(service, [event]), {
      'user-agent': 'Googlebot/2.1 (+http://www.google.com/bot.html)',
    })
    expect(await readEvent(service, event.event_id)).toMatchObject({
      is_bot: true,
      bot_reason: expect.stringContaining('Google'),
    })
  })
})

describe('the clock', () => {
  const sendAt = async (clockErrorMs: number, ageMs: number) => {
    const sentAt = Date.now() + clockErrorMs
    const event = customEvent()
    event.event_data.timestamp = new Date(sentAt - ageMs).toISOString()
    await post(beaconOf(service, [event], { sent_at: new Date(sentAt).toISOString() }))
    const row = await readEvent(service, event.event_id)
    expect(JSON.parse(row.event_data as string).timestamp).toBe(row.timestamp)
    return { row, given: sentAt - ageMs }
  }

  test('an event time is kept where the clock is less than a minute off', async () => {
    const { row, given } = await sendAt(-30_000, 5_000)
    expect(row.ts_millis).toBe(given)
  })

  test('is moved by how far the clock is off where that is more', async () => {
    const from = Date.now()
    const { row } = await sendAt(-3_600_000, 5_000)
    expect(row.ts_millis).toBeGreaterThanOrEqual(from - 5_000)
    expect(row.ts_millis).toBeLessThanOrEqual(Date.now() - 5_000)
  })

  test('and likewise where the sender states milliseconds, as the pixel does', async () => {
    const event = customEvent()
    event.event_data.timestamp = new Date(Date.now() - 3_605_000).toISOString()
    const from = Date.now()
    await post(beaconOf(service, [event], { sent_at: from - 3_600_000 }))
    const row = await readEvent(service, event.event_id)
    expect(row.ts_millis).toBeGreaterThanOrEqual(from - 5_000)
    expect(row.ts_millis).toBeLessThanOrEqual(Date.now() - 5_000)
    const answer = await post(beaconOf(service, [], { sent_at: 1e300 }))
    expect(answer.status).toBe(400)
  })

  test('is never in the future', async () => {
    const { row } = await sendAt(20_000, 0)
    expect(row.ts_millis).toBe(Date.parse(row.received_at as string))
  })
})

describe('a bad event costs only itself', () => {
  // Before the others: of a pixel's rejected events without a key, few are stored.
  test('rejected events are kept with the reason', async () => {
    const eventId = randomUUID()
    await post(beaconOf(service, [{ event_id: eventId, event_type: 'nonsense', event_data: {} }]))
    const kept = await waitFor('the rejected event', async () => {
      const answer = await ask(service, `/api/v1/rejected_events?pixel_id=${service.demo.pixel_id}`)
      const { rejected_events } = (await answer.json()) as {
        rejected_events: Record<string, unknown>[]
      }
      return rejected_events.find((row) => row.event_id === eventId)
    })
    expect(kept).toMatchObject({
      pixel_id: service.demo.pixel_id,
      event_type: 'nonsense',
      path: '/event_type',
      event: expect.stringContaining('nonsense'),
    })
  })

  const good = () => customEvent()
  const bad: [string, (event: ReturnType<typeof customEvent>) => unknown, string][] = [
    ['not an object', () => 5, ''],
    ['an event_id that is no uuid', (event) => ({ ...event, event_id: 'x' }), '/event_id'],
    ['no event_id', ({ event_id, ...event }) => event, '/event_id'],
    ['an unknown event_type', (event) => ({ ...event, event_type: 'hover' }), '/event_type'],
    [
      'an event_type from Object.prototype',
      (event) => ({ ...event, event_type: 'constructor' }),
      '/event_type',
    ],
    ['no event_data', (event) => ({ ...event, event_data: null }), '/event_data'],
    ['a url that is a number', (event) => withData(event, { url: 5 }), '/event_data/url'],
    [
      'a timestamp without milliseconds',
      (event) => withData(event, { timestamp: '2026-01-01T00:00:00Z' }),
      '/event_data/timestamp',
    ],
    [
      'a day that does not exist',
      (event) => withData(event, { timestamp: '2026-13-01T00:00:00.000Z' }),
      '/event_data/timestamp',
    ],
    [
      'a time of long ago',
      (event) => withData(event, { timestamp: '2001-01-01T00:00:00.000Z' }),
      '/event_data/timestamp',
    ],
    ['an empty name', (event) => withData(event, { name: '' }), '/event_data/name'],
    [
      'a name of 101 characters',
      (event) => withData(event, { name: 'x'.repeat(101) }),
      '/event_data/name',
    ],
    [
      'properties that are an array',
      (event) => withData(event, { properties: [] }),
      '/event_data/properties',
    ],
    [
      'properties over 16 KiB',
      (event) => withData(event, { properties: { x: 'é'.repeat(8200) } }),
      '/event_data/properties',
    ],
    [
      '__proto__ as a key',
      (event) => withData(event, { properties: JSON.parse('{"a":{"__proto__":{"x":1}}}') }),
      '/event_data/properties/a/__proto__',
    ],
  ]
  const withData = (event: ReturnType<typeof customEvent>, data: Record<string, unknown>) => ({
    ...event,
    event_data: { ...event.event_data, ...data },
  })

  // All at once: each waits for its own events to be readable.
  test.concurrent.each(bad)('%s', async (_name, spoil, path) => {
    const [before, after] = [good(), good()]
    const spoiled = spoil(good())
    const answer = await post(beaconOf(service, [before, spoiled, after]))
    expect(answer.status).toBe(200)
    const receipt = await receiptOf(answer)
    expect(receipt).toMatchObject({
      accepted: 2,
      rejected: [
        {
          index: 1,
          path,
          code: 'invalid_event',
          message: expect.stringMatching(/^(must|requires) /),
        },
      ],
    })
    await readEvent(service, before.event_id)
    await readEvent(service, after.event_id)
  })

  test('wrong types in every field of every type are named', async () => {
    const timestamp = new Date().toISOString()
    const size = { height: 1, width: 1 }
    const valid: Record<string, Record<string, unknown>> = {
      page_view: { title: '', referrer: null, screen: size, viewport: size },
      click: {
        element: { ariaLabel: null, className: '' },
        elementIdentifier: '',
        elementText: '',
        coordinates: { x: 1, y: 2 },
      },
      scroll_depth: { percentage: 30, threshold: 25 },
      copy: { text: '', textLength: 0 },
      form_submission: { form: { id: null, name: null, action: null, method: 'get' }, fields: [] },
      search: { query: '', results_count: null },
      video: { src: '', title: null, action: 'play', position: 0, duration: null, percent: 0 },
      download: { href: 'x', filename: 'x', extension: '' },
      custom: { name: 'x', properties: {} },
    }
    for (const [event_type, fields] of Object.entries(valid)) {
      const data = { url: 'http://shop.example/', timestamp, ...fields }
      const event = (event_data: unknown) => ({ event_id: randomUUID(), event_type, event_data })
      const names = Object.keys(data)
      const events = [
        event(data),
        ...names.map((name) => event({ ...data, [name]: /./ as unknown })),
      ]
      // A RegExp is {} in JSON: wrong everywhere but where any object will do.
      const receipt = await receiptOf(await post(beaconOf(service, events)))
      const expected = names.filter((name) => name !== 'properties')
      expect(receipt.accepted, event_type).toBe(events.length - expected.length)
      expect(receipt.rejected.map(({ path }) => path.split('/')[2]).sort()).toEqual(expected.sort())
    }
  })
})

describe('a beacon that cannot be taken', () => {
  const body = (more: Record<string, unknown>) => beaconOf(service, [], more)
  const error = async (answer: Response) => ({
    status: answer.status,
    ...((await answer.json()) as Record<string, unknown>),
  })

  test.each([
    ['broken JSON', '{"pixel_id":', 'not valid JSON'],
    ['an empty body', '', 'JSON'],
    ['an array', '[]', 'JSON object'],
    ['invalid UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]), 'UTF-8'],
  ])('%s answers 400 malformed', async (_name, given, word) => {
    expect(await error(await post(given))).toMatchObject({
      status: 400,
      error: 'malformed',
      message: expect.stringContaining(word),
    })
  })

  test.each([
    ['pixel_id', { pixel_id: 'x' }],
    ['cookie_id', { cookie_id: 5 }],
    ['hem', { hem: 'ann@example.com' }],
    ['sent_at', { sent_at: 'yesterday' }],
    ['events', { events: {} }],
    ['events', { events: Array.from({ length: 501 }, () => 0) }],
  ])('a wrong %s answers 400 and names it', async (name, more) => {
    expect(await error(await post(body(more)))).toMatchObject({
      status: 400,
      message: expect.stringContaining(name),
    })
  })

  test('an unknown pixel answers 404, an inactive one 403, with different errors', async () => {
    expect(await error(await post(body({ pixel_id: randomUUID() })))).toMatchObject({
      status: 404,
      error: 'pixel not found',
    })
  })

  test('65 KiB answer 413; 1,000 events do not fit and answer 413', async () => {
    const large = JSON.stringify(beaconOf(service, [customEvent({ x: 'x'.repeat(65 * 1024) })]))
    expect(await error(await post(large))).toMatchObject({ status: 413, error: 'too_large' })
    const many = beaconOf(
      service,
      Array.from({ length: 1_000 }, () => customEvent()),
    )
    expect((await post(many)).status).toBe(413)
  })

  test('another content type answers 415', async () => {
    expect((await post('<a/>', { 'content-type': 'text/xml' })).status).toBe(415)
  })
})

describe('the visitor', () => {
  const cookieOf = (answer: Response) => answer.headers.get('set-cookie')
  const send = (more: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
    post(beaconOf(service, [customEvent()], more), headers)

  test('gets a cookie for thirteen months that scripts cannot read', async () => {
    const answer = await send({}, { 'sec-fetch-site': 'same-origin' })
    const { cookie_id } = await receiptOf(answer)
    expect(cookieOf(answer)).toBe(
      `footfall=${cookie_id}; Path=/; Max-Age=34128000; HttpOnly; SameSite=Lax`,
    )
  })

  test('of another site gets it partitioned', async () => {
    expect(cookieOf(await send({}, { 'sec-fetch-site': 'cross-site' }))).toMatch(
      /SameSite=None; Secure; Partitioned$/,
    )
  })

  test('is who the collector’s cookie says, else who the page says', async () => {
    const [ours, theirs] = [randomUUID(), randomUUID()]
    const both = await receiptOf(
      await send({ cookie_id: theirs }, { cookie: `a=b; footfall=${ours}` }),
    )
    expect(both.cookie_id).toBe(ours)
    expect(
      (await receiptOf(await send({ cookie_id: theirs }, { cookie: 'footfall=nonsense' })))
        .cookie_id,
    ).toBe(theirs)
  })

  test.each([
    ['consent denied', { consent: false }, {}],
    ['Global Privacy Control', {}, { 'sec-gpc': '1' }],
    ['Do Not Track', {}, { dnt: '1' }],
  ])('%s: no cookie, the same id all day, and none of theirs', async (_name, more, headers) => {
    const cookie_id = randomUUID()
    const first = await send({ ...more, cookie_id }, headers)
    const second = await send(more, headers)
    expect(cookieOf(first)).toBeNull()
    const ids = [await receiptOf(first), await receiptOf(second)].map(
      (receipt) => receipt.cookie_id,
    )
    expect(ids[0]).toBe(ids[1])
    expect(ids[0]).not.toBe(cookie_id)
    expect(cookieOf(await send(more, { ...headers, cookie: `footfall=${cookie_id}` }))).toMatch(
      /^footfall=; .*Max-Age=0/,
    )
  })

  test('who is identified has earlier events resolved within five seconds', async () => {
    const cookie_id = randomUUID()
    const event = customEvent()
    await post(beaconOf(service, [event], { cookie_id }))
    expect((await readEvent(service, event.event_id)).resolved).toBe(false)
    await post(beaconOf(service, [], { cookie_id, hem: 'a'.repeat(64) }))
    await waitFor(
      'the link',
      async () => (await readEvent(service, event.event_id)).resolved,
      5_000,
    )
  })
})

describe('browsers', () => {
  test('need no preflight for text/plain, and get one answered for JSON', async () => {
    const answer = await post(beaconOf(service, []), { origin: 'https://shop.example' })
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://shop.example')
    expect(answer.headers.get('access-control-allow-credentials')).toBe('true')
    const preflight = await fetch(`${service.url}/e`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://shop.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-headers')).toMatch(/^content-type$/i)
  })

  test('without scripts leave a page view through the image', async () => {
    const url = `http://shop.example/${randomUUID()}`
    const answer = await fetch(
      `${service.url}/e.gif?${new URLSearchParams({ pixel_id: service.demo.pixel_id, url, title: 'T' })}`,
    )
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('image/gif')
    const row = await waitFor(
      'the page view',
      async () => (await readRows(service, { filter: `page_url:eq:${url}` }))[0],
    )
    expect(row).toMatchObject({ event_type: 'page_view' })
    expect(JSON.parse(row.event_data as string)).toMatchObject({ url, title: 'T', referrer: null })
  })

  test('the image’s status tells the truth', async () => {
    const status = async (query: Record<string, string>) =>
      (await fetch(`${service.url}/e.gif?${new URLSearchParams(query)}`)).status
    expect(await status({ pixel_id: randomUUID(), url: 'http://a/' })).toBe(404)
    expect(await status({ pixel_id: service.demo.pixel_id })).toBe(400)
  })

  test('get the pixel compressed, with the id baked in, and 304 when they have it', async () => {
    const path = `${service.url}/p/${service.demo.pixel_id}.js`
    for (const encoding of ['br', 'gzip', 'identity']) {
      const answer = await fetch(path, { headers: { 'accept-encoding': encoding } })
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-encoding')).toBe(encoding === 'identity' ? null : encoding)
      expect(await answer.text()).toContain(service.demo.pixel_id)
      expect(answer.headers.get('cache-control')).toContain('stale-while-revalidate')
      const again = await fetch(path, { headers: { 'if-none-match': answer.headers.get('etag')! } })
      expect(again.status).toBe(304)
    }
    expect((await fetch(`${service.url}/p/${randomUUID()}.js`)).status).toBe(404)
  })
})
