import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  ask,
  beaconOf,
  customEvent,
  postBeacon,
  type Row,
  readEvent,
  readRows,
} from '../../harness/api.ts'
import { writeDatabase } from '../../harness/mmdb.ts'
import { type Answering, waitFor } from '../../harness/service.ts'
import { openTenant } from '../../harness/sharedApp.ts'

let service: Answering
beforeAll(async () => {
  const env = { FOOTFALL_TRUSTED_PROXIES: '127.0.0.1' }
  service = (await openTenant({ env, hasSample: true })).service
})
afterAll(() => service.stop())

const pageView = (data: object = {}) => ({
  event_id: randomUUID(),
  event_type: 'page_view',
  event_data: {
    url: 'https://shop.example/',
    title: 'Shop',
    referrer: null,
    screen: { height: 1080, width: 1920 },
    viewport: { height: 947, width: 1903.4 },
    timestamp: new Date().toISOString(),
    ...data,
  },
})

/** The row of a page view that is sent with these data and headers. */
async function rowOf(
  data: object = {},
  headers: Record<string, string> = {},
  more: object = {},
): Promise<Row> {
  const event = pageView(data)
  const answer = await postBeacon(service.url, beaconOf(service, [event], { ...more }), headers)
  expect(answer.status).toBe(200)
  return readEvent(service, event.event_id)
}

describe('where a visitor is', () => {
  test.each([
    ['81.2.69.142', 'GB', '81.2.69.0'],
    ['2a02:6b8::1', 'RU', '2a02:6b8::'],
    ['10.0.0.1', null, '10.0.0.0'],
  ])('%s is read back with country %s', async (address, country, client_ip) => {
    const row = await rowOf({}, { 'x-forwarded-for': address })
    expect(row).toMatchObject({ country, region: null, city: null, client_ip })
  })

  test('is told without consent as with it, and no id is kept for it', async () => {
    const headers = { 'x-forwarded-for': '81.2.69.142', 'accept-language': 'cy,en-GB;q=0.5' }
    const row = await rowOf({}, headers, { consent: false, cookie_id: null })
    expect(row).toMatchObject({ country: 'GB', language: 'cy' })
    expect(String(row.cookie_id)[14]).toBe('8')
  })

  test('comes with region and city from a database that the operator brings', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'footfall-city-'))
    const file = join(directory, 'city.mmdb')
    writeDatabase(file, 127, {
      country: { iso_code: 'AT' },
      subdivisions: [{ names: { en: 'Vienna' } }],
      city: { names: { en: 'Vienna' } },
    })
    const { service: other } = await openTenant({ env: { FOOTFALL_IP_DATABASE: file } })
    try {
      const event = pageView()
      await postBeacon(other.url, beaconOf(other, [event]))
      expect(await readEvent(other, event.event_id)).toMatchObject({
        country: 'AT',
        region: 'Vienna',
        city: 'Vienna',
      })
    } finally {
      await other.stop()
      rmSync(directory, { recursive: true })
    }
  }, 600_000)
})

test('a referrer of spam is marked as a bot, by the domain that the list has', async () => {
  const row = await rowOf({ referrer: 'https://www.semalt.com/crawler.php?u=x' })
  expect(row).toMatchObject({ is_bot: true, bot_reason: 'referrer: semalt.com' })
  expect(await rowOf({ referrer: 'https://notsemalt.com/' })).toMatchObject({ is_bot: false })
})

describe('what a visitor sees the page with', () => {
  test('widths of a page view, rounded, and the language', async () => {
    const row = await rowOf({}, { 'accept-language': 'de-at,en;q=0.5' })
    expect(row).toMatchObject({ screen_width: 1920, viewport_width: 1903, language: 'de-AT' })
    const found = await readRows(service, {
      filter: `event_id:eq:${row.event_id},screen_width:gte:1920`,
    })
    expect(found).toHaveLength(1)
  })

  test('is null where the event does not tell', async () => {
    const nothing = { screen_width: null, viewport_width: null, language: null }
    const event = customEvent()
    await postBeacon(service.url, beaconOf(service, [event]), { 'accept-language': '*' })
    expect(await readEvent(service, event.event_id)).toMatchObject(nothing)
    const odd = { screen: { height: 0, width: 0 }, viewport: { height: 1, width: -5e300 } }
    expect(await rowOf(odd, { 'accept-language': '"}' })).toMatchObject(nothing)
  })

  test('an image request has a language and no widths', async () => {
    const url = `https://shop.example/${randomUUID()}`
    const query = new URLSearchParams({ pixel_id: service.demo.pixel_id, url })
    await fetch(`${service.url}/e.gif?${query}`, { headers: { 'accept-language': 'nl' } })
    const row = await waitFor(
      url,
      async () => (await readRows(service, { filter: `page_url:eq:${url}` }))[0],
    )
    expect(row).toMatchObject({ language: 'nl', screen_width: null, viewport_width: null })
  })
})

describe('how a visitor came', () => {
  const none = {
    utm_source: null,
    utm_medium: null,
    utm_campaign: null,
    utm_term: null,
    utm_content: null,
    click_id: null,
    click_id_type: null,
    referrer_host: null,
  }

  const addresses: [string, Row][] = [
    ['', {}],
    ['?utm_source=&gclid=&x_utm_medium=a&not_gclid=1', {}],
    [
      '?utm_source=news+letter&utm_medium=e%2Dmail&utm_campaign=%C3%A9t%C3%A9&utm_term=a%26b&utm_content=top#x',
      {
        utm_source: 'news letter',
        utm_medium: 'e-mail',
        utm_campaign: 'été',
        utm_term: 'a&b',
        utm_content: 'top',
      },
    ],
    ['?a=1&gclid=EAIa%2Bx#gclid=2', { click_id: 'EAIa+x', click_id_type: 'gclid' }],
    ['?fbclid=IwAR0&msclkid=2', { click_id: 'IwAR0', click_id_type: 'fbclid' }],
    ['?li_fat_id=a-b', { click_id: 'a-b', click_id_type: 'li_fat_id' }],
    // No UTF-8, and an end in the middle of a code.
    ['?utm_source=%ff%fe&utm_medium=%', { utm_source: '\ufffd', utm_medium: '%' }],
  ]
  const referrers: [string, string | null][] = [
    ['https://User@News.Example:8443/a?b=https://other.example/', 'news.example:8443'],
    ['https://news.example', 'news.example'],
    ['android-app://com.example.reader/', 'com.example.reader'],
    ['somewhere', null],
    ['file:///home', null],
  ]

  test('is computed from the addresses of the page and its referrer', async () => {
    const cases: [object, Row][] = [
      ...addresses.map(([query, expected]): [object, Row] => [
        { url: `https://shop.example/${query}` },
        { ...none, ...expected },
      ]),
      ...referrers.map(([referrer, referrer_host]): [object, Row] => [
        { referrer },
        { referrer_host },
      ]),
    ]
    const events = cases.map(([data]) => pageView(data))
    await postBeacon(service.url, beaconOf(service, events))
    for (const [at, [data, expected]] of cases.entries())
      expect(await readEvent(service, events[at]!.event_id), JSON.stringify(data)).toMatchObject(
        expected,
      )
  })

  test('is filtered and counted by', async () => {
    const campaign = randomUUID()
    for (const source of ['a', 'a', 'b'])
      await rowOf({ url: `https://shop.example/?utm_campaign=${campaign}&utm_source=${source}` })
    const query = new URLSearchParams({
      filter: `utm_campaign:eq:${campaign}`,
      group_by: 'utm_source',
    })
    const answer = await ask(service, `/api/v3/events/web_event/counts?${query}`)
    expect(((await answer.json()) as { counts: Row[] }).counts).toEqual([
      { utm_source: 'a', count: 2 },
      { utm_source: 'b', count: 1 },
    ])
  })
})

test('the sample that test keys read has visitors from several countries, campaigns and referrers', async () => {
  const { test_api_key, test_api_secret } = service.demo
  const headers = { 'x-api-key': test_api_key, 'x-api-secret': test_api_secret }
  const counted = async (field: string) => {
    const query = new URLSearchParams({
      group_by: field,
      filter: 'is_bot:eq:false',
      start_time: monthAgo,
    })
    const answer = await ask(service, `/api/v3/events/web_event/counts?${query}`, headers)
    const { counts } = (await answer.json()) as { counts: Row[] }
    return counts.filter((count) => count[field] !== null).length
  }
  for (const field of [
    'country',
    'language',
    'utm_source',
    'utm_medium',
    'click_id_type',
    'referrer_host',
  ])
    expect(await counted(field), field).toBeGreaterThan(1)
})

const monthAgo = new Date(Date.now() - 30 * 86_400_000).toISOString()
