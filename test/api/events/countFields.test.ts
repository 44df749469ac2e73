import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Field, fields, isIdentityField } from '../../../schemas/fields.ts'
import { eventOf, linkOf, openEvents, organizationId } from './harness.ts'

let events: Awaited<ReturnType<typeof openEvents>>
const now = Date.now()
const cookie = randomUUID()
const otherCookie = randomUUID()
const hem = 'ab'.repeat(32)
const otherHem = 'ba'.repeat(32)
const window = { start_ms: String(now - 3_600_000), end_ms: String(now) }
const scope = { organization_id: organizationId }

beforeAll(async () => {
  // It has fewer free answers, and profiles belong to no organization.
  events = await openEvents({ isAlone: true, env: { FOOTFALL_FREE_ANSWERS_PER_DAY: '60' } })
  await events.postgres.query(
    `INSERT INTO organizations (organization_id, name) VALUES ($1, 'O') ON CONFLICT DO NOTHING`,
    [organizationId],
  )
  await events.insert([
    eventOf(now, 1_000, { cookie_id: cookie }),
    eventOf(now, 2_000, { cookie_id: cookie, event_type: 'click' }),
    eventOf(now, 3_000),
    eventOf(now, 4_000, { cookie_id: otherCookie }),
  ])
  await events.know({
    links: [linkOf(cookie, hem), linkOf(otherCookie, otherHem)],
    profiles: [hem, otherHem].map((one) => ({ hem: one, company_domain: 'acme.example' })),
  })
})
afterAll(() => events.close())

/** The routes that count or estimate events, and the parameters that each needs. */
const webEvent = '/api/v3/events/web_event/counts'
const ofVersion1 = ['event_counts', 'event_counts_index', 'events/scan_estimate'].map(
  (path) => `/api/v1/${path}`,
)
const ask = (path: string, query: Record<string, string>) =>
  events.app.inject({
    url: `${path}?${new URLSearchParams({ ...window, ...(path === webEvent ? {} : scope), ...query })}`,
  })
const answersTaken = async () => {
  const { rows } = await events.postgres.query('SELECT FROM free_answers')
  return rows.length
}

/** A value that suits the field. */
const sampleOf = ({ dataType, values }: Field) =>
  values?.[0] ??
  { Utf8: 'x', Int64: '1', Float64: '1', Boolean: 'true', Timestamp: '2026-01-01' }[dataType]

const identityFields = fields.filter(isIdentityField)
/** Groups by these would return rows, browsers or addresses. */
const rowFields =
  'event_id ts_millis timestamp received_at event_data cookie_id client_ip user_agent referrer_url spend'.split(
    ' ',
  )

test('web_event counts refuse every identity field in filter and distinct, and name it', async () => {
  for (const field of identityFields) {
    for (const [parameter, value] of [
      ['filter', `event_type:eq:page_view,${field.name}:ne:${sampleOf(field)}`],
      ['distinct', `cookie_id,${field.name}`],
    ] as const) {
      const answer = await ask(webEvent, { [parameter]: value })
      expect([field.name, answer.statusCode]).toEqual([field.name, 400])
      expect(answer.json()).toMatchObject({ error: 'invalid_parameter', parameter })
      expect(answer.json().message).toContain(`"${field.name}"`)
    }
  }
})

test('counts of version 1 filter by every identity field', async () => {
  for (const field of identityFields) {
    const filter = `event_type:eq:page_view,${field.name}:ne:${sampleOf(field)}`
    const answer = await ask('/api/v1/event_counts', { filter })
    expect([field.name, answer.statusCode]).toEqual([field.name, 200])
    await events.postgres.query('DELETE FROM free_answers')
  }
})

test.each([
  [`hem:eq:${hem}`, 2],
  [`hem:ne:${hem}`, 2],
  [`hem:in:${hem}|${otherHem}`, 3],
  ['company_domain:eq:acme.example', 3],
  ['company_domain:ne:acme.example', 1],
  ['company_domain:eq:acme.example,event_type:eq:page_view', 2],
  ['has_profile:eq:true', 3],
])('version 1 counts the events of %s, as many as are charged', async (filter, count) => {
  const { counts } = (await ask('/api/v1/event_counts', { filter })).json()
  expect(counts).toEqual([{ count }])
  const { index } = (await ask('/api/v1/event_counts_index', { filter })).json()
  expect(index.reduce((sum: number, entry: { count: number }) => sum + entry.count, 0)).toBe(count)
  expect((await ask('/api/v1/events/scan_estimate', { filter })).statusCode).toBe(200)
  expect((await ask('/api/v1/events', { filter })).json().meta.charged).toBe(count)
})

test('version 1 counts distinct people and companies, as many as are charged', async () => {
  for (const [distinct, count] of [
    ['hem', 3],
    ['company_domain', 2],
    ['cookie_id,hem', 3],
  ] as const) {
    const { counts } = (await ask('/api/v1/event_counts', { distinct })).json()
    expect([distinct, counts]).toEqual([distinct, [{ count: 4, distinct: count }]])
    expect((await ask('/api/v1/events', { distinct })).json().meta.charged).toBe(count)
  }
  const query = { distinct: 'hem', group_by: 'event_type', filter: 'resolved:eq:true' }
  expect((await ask('/api/v1/event_counts', query)).json().counts).toEqual([
    { event_type: 'page_view', count: 2, distinct: 2 },
    { event_type: 'click', count: 1, distinct: 1 },
  ])
})

test.each(ofVersion1)('%s takes one free answer for each question about people', async (path) => {
  await events.postgres.query('DELETE FROM free_answers')
  await ask(path, { filter: 'resolved:eq:true,event_type:eq:click' })
  expect(await answersTaken()).toBe(0)
  for (const filter of [`hem:eq:${hem}`, `hem:eq:${hem}`, 'company_domain:eq:acme.example'])
    expect((await ask(path, { filter })).statusCode).toBe(200)
  expect(await answersTaken()).toBe(2)
  await events.postgres.query(
    `INSERT INTO free_answers SELECT $1, max(day), sha256(n::text::bytea)
     FROM free_answers, generate_series(1, 58) AS n GROUP BY n`,
    [organizationId],
  )
  const refused = await ask(path, { filter: 'job_country:eq:DE' })
  expect(refused.json()).toMatchObject({ error: 'platform_cap_exceeded', meter: 'free_answers' })
  expect(refused.statusCode).toBe(429)
  expect((await ask(path, { filter: `hem:eq:${hem}` })).statusCode).toBe(200)
  expect((await ask(path, {})).statusCode).toBe(200)
  await events.postgres.query('DELETE FROM free_answers')
})

test('all counts filter by resolved and by fields of events', async () => {
  for (const path of [webEvent, ...ofVersion1]) {
    for (const filter of ['resolved:eq:true', `cookie_id:eq:${cookie}`, 'event_data.url:like:%']) {
      expect([filter, (await ask(path, { filter })).statusCode]).toEqual([filter, 200])
    }
  }
})

const counting = [webEvent, '/api/v1/event_counts']
describe.each(counting)('%s', (path) => {
  test('is grouped by nothing that is a person, a browser, an address or an event', async () => {
    for (const name of [...rowFields, ...identityFields.map((field) => field.name), 'nothing']) {
      const answer = await ask(path, { group_by: `event_type,${name}` })
      expect([name, answer.statusCode]).toEqual([name, 400])
      expect(answer.json()).toMatchObject({ error: 'invalid_parameter', parameter: 'group_by' })
      expect(answer.json().message).toContain(`"${name}"`)
    }
  })

  test.each(
    'event_type pixel_id project_id source campaign_id hour day url page_url page_host page_path browser os device_type is_bot resolved'.split(
      ' ',
    ),
  )('is grouped by %s', async (group_by) => {
    const answer = await ask(path, { group_by })
    expect(answer.statusCode).toBe(200)
    expect(Object.keys(answer.json().counts[0])).toEqual([group_by, 'count'])
  })

  test('has at most 10,000 groups, and says that there are more', async () => {
    const many = 10_010
    const startMs = now - 40 * 86_400_000
    await events.insert(
      Array.from({ length: many }, (_, n) =>
        eventOf(startMs, -1 - n, { page_url: `https://shop.example/${n}` }),
      ),
    )
    const query = {
      start_ms: String(startMs),
      end_ms: String(startMs + many + 1),
      group_by: 'url',
      ...(path.includes('v3') && { limit: '10000' }),
    }
    const { counts, total, meta } = (await ask(path, query)).json()
    expect([counts.length, total % many, meta.has_more]).toEqual([10_000, 0, true])
  })
})

test('a refusal does not tell whether a visitor has a profile, where the rows choose the meter', async () => {
  const [hemOnly, unknown] = [randomUUID(), randomUUID()]
  await events.know({ links: [linkOf(hemOnly, 'cd'.repeat(32))] })
  await events.insert([hemOnly, unknown].map((cookie_id) => eventOf(now, 1_000, { cookie_id })))
  const limit = (meter: string) =>
    events.postgres.query('INSERT INTO usage_limits VALUES ($1, $2, 0, NULL)', [
      organizationId,
      meter,
    ])
  const told = async (cookie_id: string) => {
    const query = { ...window, ...scope, limit: '1', filter: `cookie_id:eq:${cookie_id}` }
    const answer = await events.app.inject({
      url: `/api/v1/events?${new URLSearchParams(query)}`,
    })
    return [answer.statusCode, answer.json().meter]
  }
  try {
    for (const meter of ['resolution_full_profile', 'resolution_hem', 'events']) {
      await limit(meter)
      const ofNobody = await told(randomUUID())
      expect(ofNobody).toEqual([429, expect.any(String)])
      for (const one of [cookie, hemOnly, unknown]) expect(await told(one)).toEqual(ofNobody)
    }
  } finally {
    await events.postgres.query('DELETE FROM usage_limits')
  }
})
