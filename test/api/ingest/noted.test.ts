import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask, beaconOf, postBeacon, receiptOf } from '../../harness/api.ts'
import { type Service, startService, waitFor } from '../../harness/service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

const url = 'https://shop.example/page?q=red+shoes&page=2'
const timestamp = new Date().toISOString()

/** Sends an event as the pixel notes it; answers what is stored of it. */
async function stored(event_type: string, noted: object): Promise<Record<string, unknown>> {
  const event_id = randomUUID()
  const event = { event_id, event_type, event_data: { url, timestamp, ...noted } }
  const receipt = await receiptOf(await postBeacon(service.url, beaconOf(service, [event])))
  expect(receipt.rejected).toEqual([])
  const row = await waitFor('the row', async () => {
    const answer = await ask(service, `/api/v3/events/web_event?filter=event_id:eq:${event_id}`)
    return ((await answer.json()) as { rows: { event_data: string }[] }).rows[0]
  })
  return JSON.parse(row.event_data)
}

const button = { tag: 'button', nth: 1, class: 'css-1x2y3z', 'aria-label': 'Close' }

test('a click: the fields of the specification, and marks where they say something', async () => {
  const click = { coordinates: { x: 1, y: 2 }, clicks: 1, reacted: true }
  expect(
    await stored('click', { ...click, path: [button, { tag: 'main' }], elementText: ' Close \n  it ' }),
  ).toEqual({
    url,
    timestamp,
    element: { ariaLabel: 'Close', className: 'css-1x2y3z', tagName: 'BUTTON', id: null, href: null },
    elementIdentifier: 'button[aria-label=Close]',
    elementText: 'Close it',
    coordinates: { x: 1, y: 2 },
  })
  const link = (href: string) => ({ ...click, path: [{ tag: 'a', href }], elementText: '', reacted: false })
  expect(await stored('click', link('https://other.example/'))).toMatchObject({ link: 'outbound' })
  expect(await stored('click', link('tel:+31'))).toMatchObject({ link: 'tel' })
  expect(await stored('click', link('mailto:a@b.example'))).toMatchObject({ link: 'mailto' })
  const plain = await stored('click', link('https://shop.example/next'))
  expect(plain).not.toHaveProperty('link')
  expect(plain).not.toHaveProperty('dead')
  const angry = { ...click, path: [button], elementText: '', clicks: 3, reacted: false }
  expect(await stored('click', angry)).toMatchObject({ rage: true, dead: true })
  // Fields answer a click without a change of the page; what stands in them is not said to be hidden.
  const field = await stored('click', {
    ...angry,
    path: [{ tag: 'input', name: 'city' }],
    elementText: '***',
  })
  expect(field).toMatchObject({ elementIdentifier: 'input[name=city]', elementText: '' })
  expect(field).not.toHaveProperty('dead')
})

test('a download, a form, a search, a video, a marked element', async () => {
  const anchor = (attributes: object) => ({ element: { tag: 'a', ...attributes } })
  expect(
    await stored('download', anchor({ href: 'https://shop.example/a/price%20list.PDF?v=2#p' })),
  ).toMatchObject({
    href: 'https://shop.example/a/price%20list.PDF?v=2#p',
    filename: 'price list.PDF',
    extension: 'pdf',
  })
  expect(
    await stored('download', anchor({ href: 'https://shop.example/100%.zip', download: '' })),
  ).toMatchObject({ filename: '100%.zip', extension: 'zip' })
  expect(
    await stored('form_submission', {
      form: { tag: 'form', name: 'f', action: '/join', method: 'POST', class: 'x' },
      fields: ['a', 'b', 'a', ''],
    }),
  ).toMatchObject({
    form: { id: null, name: 'f', action: 'https://shop.example/join', method: 'post' },
    fields: ['a', 'b'],
  })
  expect(await stored('search', { query: 'red shoes', results_count: '12 results' })).toMatchObject({
    query: 'red shoes',
    results_count: 12,
  })
  expect(await stored('search', { query: ' other ', results_count: '12' })).toMatchObject({
    query: 'other',
    results_count: null,
  })
  expect(
    await stored('video', {
      element: { tag: 'video', title: 'Film' },
      ...{ src: 'https://shop.example/film.webm', action: 'timeupdate', position: 5.2, duration: 10 },
    }),
  ).toMatchObject({ title: 'Film', action: 'progress', percent: 50, position: 5.2 })
  expect(
    await stored('custom', {
      element: { tag: 'b', 'data-footfall-event': 'plan', 'data-footfall-prop-kind-of': 'pro', id: 'x' },
      properties: { shop: 'nl' },
    }),
  ).toEqual({ url, timestamp, name: 'plan', properties: { shop: 'nl', 'kind-of': 'pro' } })
})

test('secrets in URLs are not stored, whoever sent them', async () => {
  const secret =
    'https://shop.example/a?token=s3cret&page=2&user_email=a%40b.example&reset_password_token=s3cret#access_token=s3cret'
  const view = await stored('page_view', {
    url: secret,
    title: '',
    referrer: `${secret}&code=s3cret`,
    screen: { height: 1, width: 1 },
    viewport: { height: 1, width: 1 },
  })
  expect(view).toMatchObject({
    url: 'https://shop.example/a?page=2',
    referrer: 'https://shop.example/a?page=2',
  })
  const click = await stored('click', {
    path: [{ tag: 'a', href: secret }],
    ...{ elementText: '', coordinates: { x: 1, y: 1 }, clicks: 1, reacted: true },
  })
  expect(JSON.stringify(click)).not.toContain('s3cret')
  const plain = 'https://shop.example/?monkey=1&postcode=1234&keyword=x&promo_code=SALE'
  expect(await stored('custom', { url: plain, name: 'n', properties: {} })).toMatchObject({ url: plain })
})

test('nonsense in place of what the pixel notes costs only itself', async () => {
  const nonsense = [null, 5, 'x', [], {}, { tag: 5 }, [null, { tag: {} }], [{ tag: 'a', href: {}, nth: 'x' }]]
  const types = ['page_view', 'click', 'copy', 'form_submission', 'search', 'video', 'download', 'custom']
  const keys = ['path', 'element', 'form', 'fields', 'query', 'results_count', 'properties', 'title', 'text']
  const events = types.flatMap((event_type) =>
    nonsense.map((value) => ({
      event_id: randomUUID(),
      event_type,
      event_data: { url, timestamp, ...Object.fromEntries(keys.map((key) => [key, value])) },
    })),
  )
  const answer = await postBeacon(service.url, beaconOf(service, events))
  expect(answer.status).toBe(200)
  const { accepted, rejected } = await receiptOf(answer)
  expect(accepted + rejected.length).toBe(events.length)
  expect(rejected.length).toBeGreaterThan(events.length / 2)
})
