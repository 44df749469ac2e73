import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Field, fields, isIdentityField } from '../../../schemas/fields.ts'
import { eventOf, openEvents } from '../events/harness.ts'

/** Figures are free and unmetered, so they accept no identity fields. */
let events: Awaited<ReturnType<typeof openEvents>>
const now = Date.now()
beforeAll(async () => {
  events = await openEvents()
  await events.insertHits([eventOf(now, 1_000), eventOf(now, 2_000)])
})
afterAll(() => events.close())

const gets = {
  overview: {},
  timeseries: {},
  breakdown: { dimensions: 'page_path' },
  live: {},
} as Record<string, Record<string, string>>
const ask = (path: string, query: Record<string, string>) =>
  events.app.inject({
    url: `/api/v1/analytics/${path}?${new URLSearchParams({ ...gets[path], ...query })}`,
  })

/** A value that suits the field. */
const sampleOf = ({ dataType, values }: Field) =>
  values?.[0] ??
  { Utf8: 'x', Int64: '1', Float64: '1', Boolean: 'true', Timestamp: '2026-01-01' }[dataType]

test.each(Object.keys(gets))(
  '%s refuses filters on every field that tells who a visitor is',
  async (path) => {
    for (const field of fields.filter(isIdentityField)) {
      const answer = await ask(path, {
        filter: `event_type:eq:click,${field.name}:ne:${sampleOf(field)}`,
      })
      expect([field.name, answer.statusCode]).toEqual([field.name, 400])
      expect(answer.json()).toMatchObject({ error: 'invalid_parameter', parameter: 'filter' })
      expect(answer.json().message).toContain(`"${field.name}"`)
    }
  },
)

test('a breakdown is by nothing that is a person, a browser, an address or an event', async () => {
  const refused = fields.filter(({ counts }) => counts !== 'groups').map(({ name }) => name)
  for (const dimensions of [...refused, 'nothing', 'page_path,hem', 'page_path,page_path', '']) {
    const answer = await ask('breakdown', { dimensions })
    expect([dimensions, answer.statusCode]).toEqual([dimensions, 400])
    expect(answer.json()).toMatchObject({ error: 'invalid_parameter', parameter: 'dimensions' })
  }
  const many = fields.filter(({ counts }) => counts === 'groups').map(({ name }) => name)
  expect((await ask('breakdown', { dimensions: many.slice(0, 10).join(',') })).statusCode).toBe(200)
  expect((await ask('breakdown', { dimensions: many.slice(0, 11).join(',') })).statusCode).toBe(400)
})

test('windows and intervals have bounds', async () => {
  const day = 86_400_000
  const tooLong = { start_ms: String(now - 732 * day), end_ms: String(now) }
  for (const path of ['overview', 'timeseries', 'breakdown'])
    expect((await ask(path, tooLong)).json()).toMatchObject({ parameter: 'start_ms' })
  const hours = { start_ms: String(now - 63 * day), end_ms: String(now), interval: 'hour' }
  expect((await ask('timeseries', hours)).json()).toMatchObject({ parameter: 'interval' })
})

test('another organization’s events are not counted', async () => {
  const answer = await events.app.inject({
    url: '/api/v1/analytics/overview',
    headers: { 'x-organization': randomUUID() },
  })
  expect(answer.json().overview).toMatchObject({
    events: 0,
    visitors: 0,
    sessions: 0,
    bounce_rate: null,
  })
})
