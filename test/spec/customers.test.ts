/**
 * A customer never sees observations of another one's sites, for any request: by cookie, hem, e-mail,
 * statistics, visitors, lookup. Profiles belong to the operator, and paying callers may look them up.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { visitorTiers } from '../../collector/events/visitors/visitorsRequest.ts'
import { reloadIdentity } from '../../collector/identity/store/refresh.ts'
import { sampleProfiles } from '../../collector/ops/sandbox/sampleDatabase.ts'
import { hemOf } from '../../collector/platform/hem.ts'
import { tiers } from '../../schemas/fields.ts'
import { eventOf } from '../api/events/harness.ts'
import type { Row } from '../harness/api.ts'
import { insertRows } from '../harness/rows.ts'
import { type Headers, openTenants, type Tenants } from '../harness/tenants.ts'

let tenants: Tenants
const now = Date.now()
/** Somebody whom only the foreign organization's site identified, and who was on our site with the same browser. */
const cookie = randomUUID()
const email = 'ida@secret.example'
const hem = hemOf(email)
/** The same without a profile: the foreign site alone knows that this hem is anybody. */
const [otherCookie, otherHem] = [randomUUID(), hemOf('other@secret.example')]
const marks = /Ida of the others|ida@secret\.example|secret\.example/

const windowOf = (query: Row = {}) => ({
  start_ms: String(now - 3_600_000),
  end_ms: String(now + 60_000),
  ...(query as Record<string, string>),
})

beforeAll(async () => {
  tenants = await openTenants({ hasSample: true })
  const { organizationId, first, foreign } = tenants
  const ours = {
    organization_id: organizationId,
    project_id: first.projectId,
    pixel_id: first.pixelId,
  }
  const theirs = {
    organization_id: foreign.organizationId,
    project_id: foreign.projectId,
    pixel_id: foreign.pixelId,
  }
  const seen = [cookie, otherCookie].flatMap((cookie_id, index) =>
    [ours, theirs].map((owner) => eventOf(now, 1_000 + index, { ...owner, cookie_id })),
  )
  await tenants.insert(seen)
  const insert = (table: string, rows: readonly Row[]) =>
    insertRows(tenants.clickhouse, table, rows)
  const observed_at = new Date(now).toISOString()
  await insert('identity_links', [
    { ...theirs, cookie_id: cookie, hem, observed_at },
    { ...theirs, cookie_id: otherCookie, hem: otherHem, observed_at },
  ])
  await insert('profiles', [
    { hem, first_name: 'Ida of the others', email, company_domain: 'secret.example' },
  ])
  await reloadIdentity(tenants.clickhouse)
})
afterAll(() => tenants.close())

const forms = [
  'application/json',
  'application/x-ndjson',
  'text/csv',
  // Not packed, so its texts are in its bytes.
  'application/vnd.apache.arrow.stream',
]

/** The text of an answer in these forms. */
async function textsOf(
  path: string,
  query: Record<string, string>,
  key: Headers,
  asked = forms,
): Promise<string[]> {
  return Promise.all(
    asked.map(async (accept) => {
      const answer = await fetch(`${tenants.service.url}${path}?${new URLSearchParams(query)}`, {
        headers: { ...key, accept },
      })
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${path} ${answer.status} ${text}`)
      return text
    }),
  )
}

const filters = [
  `cookie_id:eq:${cookie}`,
  `hem:eq:${hem}`,
  'hem:like:%',
  'resolved:eq:true',
  `email:eq:${email}`,
  'company_domain:eq:secret.example',
  'first_name:ne:x',
]
const isAt = (filter: string, tier: string) =>
  tier === 'resolution_full_profile' ||
  /^(cookie_id|resolved)/.test(filter) ||
  (tier !== 'web_event' && filter.startsWith('hem'))

describe('what the foreign site observed of a browser', () => {
  test.each(tiers)('is in none of our events at %s', async (tier) => {
    for (const [n, filter] of filters.filter((one) => isAt(one, tier)).entries()) {
      for (const text of await textsOf(
        `/api/v3/events/${tier}`,
        windowOf({ filter }),
        tenants.keys.organization,
        // The first filter finds the browser, and has each form.
        n === 0 ? forms : [forms[n % forms.length]!],
      )) {
        expect({ filter, text }).not.toMatchObject({ text: expect.stringMatching(marks) })
        expect(text).not.toContain(hem)
        expect(text).not.toContain(otherHem)
      }
    }
  })

  test.each(visitorTiers)('makes nobody a visitor of ours at %s', async (tier) => {
    const query = windowOf({
      project_id: tenants.first.projectId,
      limit: '50000',
      include_dsp: 'true',
    })
    const kinds = tier === 'resolution_full_profile' ? ['buyers', 'accounts'] : ['buyers']
    for (const kind of kinds) {
      for (const filter of filters.filter((one) => isAt(one, tier))) {
        const path = `/api/v3/events/${tier}/visitors`
        const { body } = await tenants.ask(path, { ...query, kind, filter })
        expect(body).toMatchObject({
          visitors: [],
          count: 0,
          has_partial_data: false,
          meta: { charged: 0 },
        })
      }
    }
  })

  test('is in none of our counts and statistics', async () => {
    const scope = windowOf({ project_id: tenants.first.projectId })
    const counts = await tenants.ask('/api/v3/events/web_event/counts', {
      ...scope,
      group_by: 'resolved',
    })
    expect(counts.body.counts).toEqual([{ resolved: false, count: 2 }])
    const v1 = await tenants.ask('/api/v1/event_counts', {
      ...scope,
      distinct: 'cookie_id',
      group_by: 'day',
    })
    expect(v1.body.counts).toEqual([{ day: expect.any(String), count: 2, distinct: 2 }])
    const { body } = await tenants.ask('/api/v1/resolution/statistics', scope)
    expect(body.total).toMatchObject({
      events: 2,
      resolved_events: 0,
      visitors: 2,
      resolved_visitors: 0,
      people: null,
    })
  })

  test('is there for the foreign organization itself: the tests above would see it', async () => {
    const key = tenants.keys.foreign
    const scope = windowOf({ project_id: tenants.foreign.projectId })
    const [text] = await textsOf('/api/v3/events/resolution_full_profile', scope, key)
    expect(text).toContain(hem)
    expect(text).toMatch(marks)
    const path = '/api/v3/events/resolution_full_profile/visitors'
    const visitors = await tenants.ask(path, { ...scope, limit: '10' }, key)
    expect(visitors.body.visitors.map(({ hem }: Row) => hem)).toEqual([hem, otherHem])
    const statistics = await tenants.ask('/api/v1/resolution/statistics', scope, key)
    expect(statistics.body.total).toMatchObject({
      events: 2,
      resolved_events: 2,
      resolved_visitors: 2,
      people: null,
    })
  })

  test('is not told by lookups and contact queries, which know profiles and no observations', async () => {
    for (const key of [tenants.keys.organization, tenants.keys.first, tenants.keys.foreign]) {
      expect((await tenants.ask('/api/v1/lookup', { hem: otherHem }, key)).body).toEqual({
        matched: false,
        person: null,
        meta: { meter: 'lookup', records: 0, charged: 0 },
      })
      const contact = (filter: string) =>
        tenants.ask('/api/v1/contact/query', {}, key, { method: 'POST', json: { filter } })
      expect((await contact(`hem:eq:${otherHem}`)).body.count).toBe(0)
      const { person } = (await tenants.ask('/api/v1/lookup', { email }, key)).body
      expect(person).toMatchObject({ hem, first_name: 'Ida of the others' })
      const found = JSON.stringify([person, (await contact(`email:eq:${email}`)).body.results])
      for (const secret of [cookie, tenants.foreign.pixelId, tenants.foreign.organizationId])
        expect(found).not.toContain(secret)
    }
  })
})

describe('another’s project or pixel', () => {
  const routes = [
    ...visitorTiers.map((tier) => `/api/v3/events/${tier}/visitors`),
    '/api/v1/resolution/statistics',
  ]
  test.each(routes)('is as if it were not there: %s', async (path) => {
    const { foreign, keys } = tenants
    const query = path.includes('visitors') ? windowOf({ limit: '10' }) : windowOf()
    for (const key of [keys.organization, keys.first]) {
      const byPixel = await tenants.ask(path, { ...query, pixel_id: foreign.pixelId }, key)
      expect(byPixel).toMatchObject({ status: 404, body: { error: 'pixel not found' } })
    }
    const byProject = await tenants.ask(path, { ...query, project_id: foreign.projectId })
    expect(byProject).toMatchObject({ status: 404, body: { error: 'project not found' } })
  })

  test('of the same organization is not for a project key', async () => {
    const { first, second, keys } = tenants
    const visitors = '/api/v3/events/resolution_hem/visitors'
    const query = windowOf({ limit: '10' })
    expect(
      await tenants.ask(visitors, { ...query, project_id: second.projectId }, keys.first),
    ).toMatchObject({
      status: 404,
      body: { error: 'project not found' },
    })
    expect(
      await tenants.ask(visitors, { ...query, pixel_id: second.pixelId }, keys.first),
    ).toMatchObject({
      status: 404,
      body: { error: 'pixel not found' },
    })
    expect(await tenants.ask(visitors, query, keys.first)).toMatchObject({
      status: 400,
      body: { parameter: 'project_id' },
    })
    const statistics = '/api/v1/resolution/statistics'
    expect(
      await tenants.ask(statistics, { project_id: second.projectId }, keys.first),
    ).toMatchObject({
      status: 403,
      body: { error: 'project_id does not match API key scope' },
    })
    const { body } = await tenants.ask(statistics, windowOf({ group_by: 'project' }), keys.second)
    expect(body).toMatchObject({ statistics: [], total: { events: 0 } })
    const own = await tenants.ask(statistics, windowOf({ group_by: 'project' }), keys.first)
    expect(own.body.statistics.map(({ project_id }: Row) => project_id)).toEqual([first.projectId])
  })
})

test('usage of a project key’s lookups is its project’s', async () => {
  await tenants.ask('/api/v1/lookup', { email }, tenants.keys.first)
  const { rows } = await tenants.postgres.query<{ project_id: string }>(
    `SELECT DISTINCT project_id FROM ledger WHERE meter = 'lookup' AND organization_id = $1 AND project_id IS NOT NULL`,
    [tenants.organizationId],
  )
  expect(rows).toEqual([{ project_id: tenants.first.projectId }])
})

test('a test key has people of the sample on every route, and is never charged', async () => {
  const key = tenants.keys.test
  const month = { start_ms: String(now - 20 * 86_400_000), end_ms: String(now) }
  const scope = { project_id: tenants.first.projectId, ...month, limit: '1000' }
  const visitors = await tenants.ask('/api/v3/events/resolution_full_profile/visitors', scope, key)
  expect(visitors.body.count).toBeGreaterThan(20)
  const accounts = { ...scope, kind: 'accounts' }
  const companies = await tenants.ask(
    '/api/v3/events/resolution_full_profile/visitors',
    accounts,
    key,
  )
  expect(companies.body.count).toBeGreaterThan(5)
  const person = JSON.parse(sampleProfiles()[0]!) as Row
  const found = await tenants.ask('/api/v1/lookup', { hem: String(person.hem) }, key)
  expect(found.body).toMatchObject({ matched: true, person: { last_name: person.last_name } })
  const batch = { items: [{ hem: person.hem }, { email }] }
  const many = await tenants.ask('/api/v1/lookup/batch', {}, key, { method: 'POST', json: batch })
  expect(many.body).toMatchObject({ matched: 1, charged: 0 })
  const filter = { filter: `last_name:eq:${person.last_name}` }
  const contacts = await tenants.ask('/api/v1/contact/query', {}, key, {
    method: 'POST',
    json: filter,
  })
  expect(contacts.body.count).toBeGreaterThan(0)
  expect(contacts.body.charged).toBe(0)
  const { body } = await tenants.ask('/api/v1/resolution/statistics', month, key)
  expect(body.total.resolved_visitors).toBeGreaterThan(20)
  for (const { headers } of [visitors, companies, found, many, contacts]) {
    expect(headers.get('x-svc-mode')).toBe('test')
    expect(headers.get('x-footfall-charged')).toBe('0')
  }
  expect((await tenants.ask('/api/v1/taxonomy', {}, key)).status).toBe(200)
})
