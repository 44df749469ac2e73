import { createHash } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Answering, waitFor } from '../../harness/service.ts'
import { openTenant } from '../../harness/sharedApp.ts'

interface Embedding {
  pixel_id: string
  script_url: string
  snippet: string
  pinned_url: string
  integrity: string
  pinned_snippet: string
}

let service: Answering
let postgres: pg.Client
beforeAll(async () => {
  const shared = await openTenant()
  service = shared.service
  postgres = new pg.Client({ connectionString: shared.env.DATABASE_URL! })
  await postgres.connect()
})
afterAll(async () => {
  await postgres.end()
  await service.stop()
})

const scriptUrl = () => `${service.url}/p/${service.demo.pixel_id}.js`
const embedding = async () =>
  (await (await fetch(`${service.url}/p/${service.demo.pixel_id}.json`)).json()) as Embedding

/** Changes the demo pixel's settings and waits until its script is another. */
async function changeSettings(settings: object): Promise<string> {
  const before = await waitFor('the pixel to be known', async () => {
    const answer = await fetch(scriptUrl())
    return answer.ok && answer.text()
  })
  await postgres.query('UPDATE pixels SET settings = $1 WHERE pixel_id = $2', [
    JSON.stringify(settings),
    service.demo.pixel_id,
  ])
  return waitFor('the new script', async () => {
    const after = await (await fetch(scriptUrl())).text()
    return after === before ? null : after
  })
}

test('settings are baked into the script', async () => {
  expect(await changeSettings({ text_length_max: 123, mask_selectors: ['.secret'] })).toMatch(
    /"\[data-footfall-mask\],\.secret"[\s\S]*slice\(0,123\)/,
  )
})

test('a pinned script is the same bytes for ever, whatever the settings become', async () => {
  const { pinned_url, integrity, snippet, pinned_snippet } = await embedding()
  const first = await fetch(pinned_url)
  expect(first.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  const bytes = Buffer.from(await first.arrayBuffer())
  expect(integrity).toBe(`sha384-${createHash('sha384').update(bytes).digest('base64')}`)
  expect(snippet).toContain(`<script async src="${scriptUrl()}"></script>`)
  expect(pinned_snippet).toContain(
    `<script async src="${pinned_url}" integrity="${integrity}" crossorigin></script>`,
  )

  await changeSettings({ text_length_max: 321 })
  expect((await embedding()).pinned_url).not.toBe(pinned_url)
  expect(Buffer.from(await (await fetch(pinned_url)).arrayBuffer()).equals(bytes)).toBe(true)
})

test('a version that nobody asked to pin is not found', async () => {
  const unknown = `${service.url}/p/${service.demo.pixel_id}.0123456789abcdef.js`
  expect((await fetch(unknown)).status).toBe(404)
})

test('what settings do not ask for is not in the script: clicks are judged where frustration is set', async () => {
  expect(await changeSettings({ text_length_max: 2 })).not.toContain('frustration')
  expect(await changeSettings({ frustration: true })).toContain('"frustration"')
  const chunk = await fetch(`${service.url}/p/frustration.js`)
  expect(chunk.headers.get('content-type')).toMatch(/^text\/javascript/)
})

test('settings add the chunks they need, by URLs that name their content', async () => {
  expect(await changeSettings({ text_length_max: 1 })).not.toContain('vitals')
  const script = await changeSettings({
    web_vitals: true,
    video_embeds: true,
    identify_forms: true,
  })
  const names = [...script.matchAll(/"((?:vitals|embeds)\.[0-9a-f]{16}\.js)"/g)].map(
    ([, name]) => name!,
  )
  expect(names.map((name) => name.split('.')[0])).toEqual(['vitals', 'embeds'])
  for (const name of names) {
    const chunk = await fetch(`${service.url}/p/${name}`)
    expect(chunk.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(chunk.headers.get('content-type')).toMatch(/^text\/javascript/)
  }
  // A script that was pinned earlier asks for an earlier chunk.
  const old = await fetch(`${service.url}/p/vitals.0123456789abcdef.js`)
  expect(old.headers.get('cache-control')).toMatch(/max-age=300/)
})

test.each(['/p/nothing.js', '/p/debug.json', '/p/.js', '/p/x.y.js'])(
  '%s is not found',
  async (path) => {
    expect((await fetch(service.url + path)).status).toBe(404)
  },
)

test.each([
  ['br', 'br'],
  ['gzip, deflate, br, zstd', 'br'],
  ['br;q=0, gzip', 'gzip'],
  ['br;q=0.1, gzip;q=0.9', 'gzip'],
  ['*', 'br'],
  ['br;q=0, *;q=0', null],
  ['identity', null],
  ['brotli', null],
])('Accept-Encoding: %s is answered %s', async (accepted, encoding) => {
  const answer = await fetch(scriptUrl(), { headers: { 'accept-encoding': accepted } })
  expect(answer.headers.get('content-encoding')).toBe(encoding)
  expect(answer.headers.get('vary')).toBe('Origin, Accept-Encoding')
  expect(await answer.text()).toContain(service.demo.pixel_id)
})

test('the script is not served again when the browser has it, however it says so', async () => {
  const etagOf = async (encoding: string) =>
    (await fetch(scriptUrl(), { headers: { 'accept-encoding': encoding } })).headers.get('etag')!
  const etags = [await etagOf('br'), await etagOf('gzip'), await etagOf('identity')]
  expect(new Set(etags).size).toBe(3)
  const held = [...etags, ...etags.map((etag) => `W/${etag}`), `"other", W/${etags[0]}`, '*']
  for (const etag of held) {
    const answer = await fetch(scriptUrl(), { headers: { 'if-none-match': etag } })
    expect({ etag, status: answer.status, vary: answer.headers.get('vary') }).toEqual({
      etag,
      status: 304,
      vary: 'Origin, Accept-Encoding',
    })
  }
  for (const etag of ['"other"', '', '""', `"${'0'.repeat(16)}"`]) {
    expect((await fetch(scriptUrl(), { headers: { 'if-none-match': etag } })).status).toBe(200)
  }
})
