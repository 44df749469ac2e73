/** Signals of an organization's own events, by its rules; and who is hidden from all of intent. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  countOwnEvents,
  deleteOldCounts,
} from '../../../../collector/audiences/signals/ownEvents/countOwnEvents.ts'
import {
  carryOutErasures,
  requestErasure,
} from '../../../../collector/identity/privacy/erasures.ts'
import { reloadIdentity } from '../../../../collector/identity/store/refresh.ts'
import { hemOf } from '../../../../collector/platform/hem.ts'
import { waitFor } from '../../../harness/service.ts'
import { eventOf, linkOf, organizationId, type Row } from '../../events/harness.ts'
import { openIntent } from './harness.ts'

const dayMs = 86_400_000
let intent: Awaited<ReturnType<typeof openIntent>>
const directory = mkdtempSync(join(tmpdir(), 'footfall-test-'))
beforeAll(async () => {
  intent = await openIntent()
})
afterAll(async () => {
  await intent.close()
  rmSync(directory, { recursive: true, force: true })
})

const put = (payload: object, headers = {}) =>
  intent.app.inject({ method: 'PUT', url: '/api/v1/intent/rules', payload, headers })
const get = (headers = {}) => intent.app.inject({ url: '/api/v1/intent/rules', headers })
const count = () =>
  countOwnEvents({ postgres: intent.postgres, clickhouse: intent.clickhouse.live }, organizationId)
const view = (cookie_id: string, agoMs: number, more: Row = {}) =>
  eventOf(Date.now(), agoMs, { cookie_id, page_url: 'https://shop.example/', ...more })

/** Scores on a topic by hem. */
async function scoresOf(topic: string, headers = {}): Promise<Record<string, number>> {
  const { results } = await intent.ask('people', { topic }, headers)
  return Object.fromEntries(
    results.map(({ person, score }: { person: { hem: string }; score: number }) => [
      person.hem,
      score,
    ]),
  )
}

test('rules are replaced whole, with a version; nobody else sees them', async () => {
  expect((await get()).json()).toEqual({ rules: [], version: 0, updated_at: null })
  const rules = [{ topic: 'wine', host: 'shop.%', path: '/wine%' }]
  expect((await put({ rules })).json()).toMatchObject({ rules, version: 1 })
  expect((await put({ rules: [], version: 1 })).json()).toMatchObject({ rules: [], version: 2 })
  const late = await put({ rules, version: 1 })
  expect({ status: late.statusCode, ...late.json() }).toMatchObject({
    status: 409,
    error: 'conflict',
    intent_rules: { version: 2, rules: [] },
  })
  expect((await get({ 'x-organization': randomUUID() })).json().rules).toEqual([])
  expect((await get({ 'x-project-key': randomUUID() })).json().version).toBe(2)
  expect((await put({ rules }, { 'x-project-key': randomUUID() })).statusCode).toBe(403)
})

test.each([
  [[{ topic: 'nonsense', path: '/' }], 'rules', '"nonsense"'],
  [[{ topic: 'wine' }], 'rules[0]', 'at least one'],
  [[{ topic: 'wine', path: '/' }, { path: '/' }], 'rules[1].topic', ''],
  [[{ topic: 'wine', path: '' }], 'rules[0].path', ''],
  [[{ topic: 'wine', path: 'x'.repeat(501) }], 'rules[0].path', ''],
  [[{ topic: 'wine', url: '/' }], 'rules[0].url', ''],
  [Array.from({ length: 101 }, () => ({ topic: 'wine', path: '/' })), 'rules', ''],
])('rules %# are 400 and named', async (rules, parameter, message) => {
  const answer = await put({ rules })
  expect({ status: answer.statusCode, ...answer.json() }).toMatchObject({ status: 400, parameter })
  expect(answer.json().message).toContain(message)
})

describe('events that meet a rule', () => {
  const [ada, ben, cleo] = [randomUUID(), randomUUID(), randomUUID()]
  const hems = {
    ada: hemOf('ada@own.example'),
    ben: hemOf('ben@own.example'),
    cleo: hemOf('cleo@own.example'),
  }

  test('are signals of whoever the browser belongs to, once for each topic', async () => {
    await put({
      rules: [
        { topic: 'wine', path: '/wine%' },
        { topic: 'wine', path: '%red%' },
        { topic: 'beer', title: '%Craft BEER%' },
        { topic: 'golf', search: '%golf%' },
        { topic: 'tennis', host: 'sport.example', path: '/%_\\' },
      ],
    })
    await intent.insert([
      view(ada, 1_000, { page_path: '/wine/red' }),
      view(ada, 2 * dayMs, { page_path: '/wine' }),
      view(ada, 40 * dayMs, { page_path: '/wine' }),
      view(ben, 3 * dayMs, { event_data: JSON.stringify({ title: 'our craft beer' }) }),
      view(ben, 3 * dayMs, { page_path: '/wine', is_bot: true }),
      view(ben, 3 * dayMs, { page_path: '/wine', event_type: 'click' }),
      view(ben, 3 * dayMs, { page_path: '/wine', organization_id: randomUUID() }),
      view(cleo, dayMs, {
        event_type: 'search',
        event_data: JSON.stringify({ query: 'Golf bags' }),
      }),
      view(cleo, dayMs, { event_data: JSON.stringify({ query: 'golf' }) }),
    ])
    await intent.know({ links: [linkOf(ada, hems.ada), linkOf(ben, hems.ben)] })
    await count()
    // 2 ÷ (2 + 1 × 30 ÷ 84 + 1)
    expect(await scoresOf('wine')).toEqual({ [hems.ada]: 60 })
    expect(await scoresOf('beer')).toEqual({ [hems.ben]: 50 })
    expect(await scoresOf('golf')).toEqual({})
    const { results } = await intent.ask('batch', {
      items: [{ id: 'a', email: 'ada@own.example' }],
    })
    expect(results[0].topics).toMatchObject([{ topic: 'wine', score: 60, signals: 2 }])
  })

  test('of somebody who is identified later count from then on', async () => {
    await intent.know({ links: [linkOf(cleo, hems.cleo)] })
    expect(await scoresOf('golf')).toEqual({ [hems.cleo]: 50 })
  })

  test('are no other organization’s, in any route', async () => {
    const other = { 'x-organization': randomUUID() }
    for (const topic of ['wine', 'beer', 'golf']) expect(await scoresOf(topic, other)).toEqual({})
    const { results } = await intent.ask(
      'batch',
      { items: [{ id: 'a', email: 'ada@own.example' }] },
      other,
    )
    expect(results).toEqual([{ id: 'a', matched: false, topics: [] }])
    const stats = await intent.app.inject({
      url: '/api/v1/stats/tables/intent-daily-stats',
      headers: other,
    })
    expect(stats.json().rows).toEqual([])
  })

  test('count again where events or rules change, and not otherwise', async () => {
    const runs = () =>
      intent.clickhouse.live.rows<{ date: string; run_id: string }>({
        sql: 'SELECT toString(date) AS date, toString(run_id) AS run_id FROM intent_event_runs FINAL ORDER BY date',
        params: {},
      })
    const before = await runs()
    await count()
    expect(await runs()).toEqual(before)
    await intent.insert([view(ben, 2 * dayMs, { page_path: '/wine' })])
    await count()
    const after = await runs()
    expect(after.filter(({ run_id }, index) => run_id !== before[index]?.run_id)).toHaveLength(1)
    expect(await scoresOf('wine')).toEqual({ [hems.ada]: 60, [hems.ben]: 50 })
    await put({ rules: [{ topic: 'tea', path: '/wine%' }] })
    await count()
    expect(await scoresOf('wine')).toEqual({})
    expect(await scoresOf('tea')).toEqual({ [hems.ada]: 60, [hems.ben]: 50 })
  })

  test('leave no old counts behind', async () => {
    const rows = async () =>
      intent.clickhouse.live.rows<{ old: number; kept: number }>({
        sql: `SELECT countIf(run_id NOT IN (SELECT run_id FROM intent_event_runs FINAL)) AS old, count() - old AS kept
              FROM intent_event_days`,
        params: {},
      })
    await intent.clickhouse.live.command({
      sql: 'ALTER TABLE intent_event_days UPDATE counted_at = counted_at - INTERVAL 2 HOUR WHERE true SETTINGS mutations_sync = 1',
      params: {},
    })
    const kept = (await rows())[0]!.kept
    await waitFor('old counts to go', async () => {
      await deleteOldCounts(intent.clickhouse.live)
      return (await rows())[0]!.old === 0
    })
    expect((await rows())[0]).toEqual({ old: 0, kept })
  })
})

describe('whoever opted out or is to be erased is in no answer', () => {
  const topic = 'sleep'
  const person = (name: string, count = 1) => ({
    emails: Array.from({ length: count }, (_, n) => `${name}-${n}@hidden.example`),
    company_domain: 'hidden.example',
    job_seniority: 'director',
  })
  const hidden = [
    person('everywhere'),
    person('here'),
    person('other-address', 2),
    person('erased'),
    person('gone'),
  ]
  const shown = [person('shown'), person('elsewhere')]
  const cookie = randomUUID()

  beforeAll(async () => {
    await intent.knowPeople([...hidden, ...shown])
    await intent.signal(
      [...hidden, ...shown].map(({ emails }) => ({
        topic,
        email: emails[0]!,
        daysAgo: 0,
        score: 100,
        source: 'x',
      })),
    )
    await put({ rules: [{ topic, path: '/sleep' }] })
    await intent.insert([view(cookie, 1_000, { page_path: '/sleep' })])
    await intent.know({ links: [linkOf(cookie, hemOf('here-0@hidden.example'))] })
    await count()
  })

  const told = async (): Promise<string> => {
    const items = [...hidden, ...shown].flatMap(({ emails }) =>
      emails.map((email) => ({ id: email, email })),
    )
    const batch = await intent.ask('batch', { items })
    const matched = batch.results.filter((one: { matched: boolean }) => one.matched)
    const bodies = [
      await intent.ask('people', { topic }),
      await intent.ask('people/multi', { topics: [topic, 'wine'] }),
      await intent.ask('people/preview', { topic, select: 'hem,email' }),
      await intent.ask('people', { topic, dry_run: true }),
      await intent.ask('batch', { items, dry_run: true }),
      await intent.ask('companies', { topic }),
      (
        await intent.app.inject('/api/v1/stats/tables/intent-daily-per-topic-stats?topic=sleep')
      ).json(),
      { matched },
    ]
    return JSON.stringify(bodies.map((body) => ({ ...body, meta: undefined })))
  }

  test('by an address of theirs, everywhere or here, at once', async () => {
    const before = JSON.parse(await told())
    expect(before[0].count).toBe(7)
    expect(before[2]).toMatchObject({ count: 7, total: 7 })
    expect(before[3].records_to_charge).toBe(7)
    await intent.optOut(hemOf('everywhere-0@hidden.example'))
    await intent.optOut(hemOf('here-0@hidden.example'), organizationId)
    await intent.optOut(hemOf('elsewhere-0@hidden.example'), randomUUID())
    await intent.optOut(hemOf('other-address-1@hidden.example'))
    await reloadIdentity(intent.clickhouse.live)
    await requestErasure(intent.postgres, organizationId, { hem: hemOf('erased-0@hidden.example') })
    await requestErasure(intent.postgres, null, { hem: hemOf('gone-0@hidden.example') })
    const after = await told()
    const [people, multi, preview, dry, batchDry, companies, stats, { matched }] = JSON.parse(after)
    const hems = people.results.map((one: { person: { hem: string } }) => one.person.hem)
    expect(hems.sort()).toEqual(shown.map(({ emails }) => hemOf(emails[0]!)).sort())
    expect([multi.count, preview.count, preview.results.length]).toEqual([2, 2, 2])
    expect(dry).toEqual({ dry_run: true, meter: 'intent', records_to_charge: 2 })
    expect(batchDry).toEqual({ dry_run: true, meter: 'intent', records_to_charge: 2 })
    expect(companies.results).toMatchObject([{ score: 67, topics: [{ signals: 2 }] }])
    expect(stats.rows).toMatchObject([{ signals: 3, people: 2 }])
    expect(matched.map(({ id }: { id: string }) => id).sort()).toEqual(
      shown.map(({ emails }) => emails[0]).sort(),
    )
    for (const { emails } of hidden)
      for (const email of emails) expect(after).not.toContain(hemOf(email))
  })

  test('and what is erased everywhere is deleted', async () => {
    const rows = async () => {
      const [found] = await intent.clickhouse.live.rows<{
        signals: number
        byPerson: number
        days: number
      }>({
        sql: `SELECT (SELECT count() FROM intent_signals WHERE hem_number = reinterpretAsUInt256(unhex({hem:String}))) AS signals,
                (SELECT count() FROM intent_signals_by_person WHERE hem_number = reinterpretAsUInt256(unhex({hem:String}))) AS byPerson,
                (SELECT count() FROM intent_event_days WHERE cookie_id = {cookie:UUID}) AS days`,
        params: { hem: hemOf('gone-0@hidden.example'), cookie },
      })
      return found!
    }
    expect(await rows()).toMatchObject({ signals: 1, byPerson: 1, days: 1 })
    await requestErasure(intent.postgres, organizationId, { cookieId: cookie })
    const deps = {
      postgres: intent.postgres,
      clickhouse: intent.clickhouse.live,
      deadLetterDirectory: directory,
      oldestWaitingAt: () => Number.POSITIVE_INFINITY,
    }
    await waitFor(
      'the rows to go',
      async () => {
        await carryOutErasures(deps)
        const { signals, byPerson, days } = await rows()
        return signals + byPerson + days === 0
      },
      60_000,
    )
  })
})
