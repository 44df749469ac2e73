import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Field, fields, isIdentityField } from '../../../schemas/fields.ts'
import { eventOf, linkOf, openEvents, organizationId, type Row } from './harness.ts'

let events: Awaited<ReturnType<typeof openEvents>>
const now = Date.now()
const cookie = randomUUID()
const hem = 'ab'.repeat(32)
const window = { start_ms: String(now - 3_600_000), end_ms: String(now) }
const scope = { organization_id: organizationId }

beforeAll(async () => {
  events = await openEvents()
  await events.insert([
    eventOf(now, 1_000, { cookie_id: cookie }),
    eventOf(now, 2_000, { cookie_id: cookie }),
    eventOf(now, 3_000),
  ])
  await events.know({
    links: [linkOf(cookie, hem)],
    profiles: [{ hem, company_domain: 'acme.example' }],
  })
})
afterAll(() => events.close())

/** Everything that counts or estimates events without a bill, and the parameters that each needs. */
const routes: Record<string, Row> = {
  '/api/v3/events/web_event/counts': {},
  '/api/v1/event_counts': scope,
  '/api/v1/event_counts_index': scope,
  '/api/v1/events/scan_estimate': scope,
}
const ask = (path: string, query: Record<string, string>) =>
  events.app.inject({
    url: `${path}?${new URLSearchParams({ ...window, ...routes[path], ...query })}`,
  })

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

describe.each(Object.keys(routes))('%s', (path) => {
  test('refuses a filter on every field that tells who a visitor is, and names it', async () => {
    for (const field of identityFields) {
      const answer = await ask(path, {
        filter: `event_type:eq:page_view,${field.name}:ne:${sampleOf(field)}`,
      })
      expect([field.name, answer.statusCode]).toEqual([field.name, 400])
      expect(answer.json()).toMatchObject({ error: 'invalid_parameter', parameter: 'filter' })
      expect(answer.json().message).toContain(`"${field.name}"`)
    }
  })

  test('filters by resolved and by fields of events', async () => {
    for (const filter of ['resolved:eq:true', `cookie_id:eq:${cookie}`, 'event_data.url:like:%']) {
      expect([filter, (await ask(path, { filter })).statusCode]).toEqual([filter, 200])
    }
  })
})

const counting = ['/api/v3/events/web_event/counts', '/api/v1/event_counts']
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

  test('counts no distinct people or companies, and says what to count instead', async () => {
    for (const { name } of identityFields) {
      const answer = await ask(path, { distinct: `cookie_id,${name}` })
      expect([name, answer.statusCode]).toEqual([name, 400])
      expect(answer.json()).toMatchObject({ error: 'invalid_parameter', parameter: 'distinct' })
      expect(answer.json().message).toContain(`"${name}"`)
      expect(answer.json().message).toContain('cookie_id')
    }
    const known = await ask(path, { distinct: 'cookie_id', filter: 'resolved:eq:true' })
    expect(known.json().counts).toEqual([{ count: 2, distinct: 1 }])
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

test('the scan estimate takes any select and distinct: it reads no identity', async () => {
  const path = '/api/v1/events/scan_estimate'
  for (const distinct of ['hem', 'email']) {
    expect((await ask(path, { select: 'email', distinct })).statusCode).toBe(200)
  }
})

test('a refusal does not tell whether a visitor has a profile, where the rows choose the meter', async () => {
  const [hemOnly, unknown] = [randomUUID(), randomUUID()]
  await events.know({ links: [linkOf(hemOnly, 'cd'.repeat(32))] })
  await events.insert([hemOnly, unknown].map((cookie_id) => eventOf(now, 1_000, { cookie_id })))
  await events.postgres.query(
    `INSERT INTO organizations (organization_id, name) VALUES ($1, 'O') ON CONFLICT DO NOTHING`,
    [organizationId],
  )
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
