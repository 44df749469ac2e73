/** Visit alerts: which visits are reported, to whom, how often, and at which price. */
import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { storeMember } from '../../../../collector/accounts/members/newMember.ts'
import {
  matchVisits,
  readActiveRules,
} from '../../../../collector/activation/visitAlerts/matchVisits.ts'
import { reportMatches } from '../../../../collector/activation/visitAlerts/reportMatches.ts'
import { createBilling } from '../../../../collector/billing/billing.ts'
import {
  carryOutErasures,
  requestErasure,
} from '../../../../collector/identity/privacy/erasures.ts'
import { addOptOut, syncToClickHouse } from '../../../../collector/identity/privacy/optOuts.ts'
import { hemOf } from '../../../../collector/platform/hem.ts'
import { storeOrganization, storeProject } from '../../../harness/owners.ts'
import { openAudiences } from '../../audiences/harness.ts'
import { eventOf, linkOf, organizationId, type Row } from '../../events/harness.ts'

const path = '/api/v1/visit-alerts'
const secretKey = randomBytes(32)
let events: Awaited<ReturnType<typeof openAudiences>>
let billing: ReturnType<typeof createBilling>
const [owner, plain] = [randomUUID(), randomUUID()]
const problems: unknown[] = []

beforeAll(async () => {
  events = await openAudiences({ env: { FOOTFALL_SECRET_KEY: secretKey.toString('base64') } })
  billing = createBilling({
    postgres: events.postgres,
    log: { error: (...said: unknown[]) => problems.push(said) },
    now: Date.now,
  })
  for (const [memberId, role] of [
    [owner, 'owner'],
    [plain, 'member'],
  ] as const)
    await storeMember(events.postgres, {
      memberId,
      organizationId,
      email: `${role}@acme.example`,
      role,
      passwordHash: '!',
    })
})
// A pass has queries for every active rule.
afterEach(() => events.postgres.query('UPDATE visit_alerts SET active = false'))
afterAll(async () => {
  await billing.close()
  await events.close()
})

const deps = () => ({
  postgres: events.postgres,
  clickhouse: events.clickhouse,
  openQueryExecutor: events.openQueryExecutor,
  billing,
  publicUrl: 'https://footfall.example',
  now: Date.now,
  log: { warn: (...said: unknown[]) => problems.push(said) },
})
const signal = new AbortController().signal
const match = () => matchVisits(deps(), Date.now(), signal)
const report = () => reportMatches(deps(), signal)
const pass = async () => {
  await match()
  await report()
}

async function openProject() {
  const project_id = randomUUID()
  await storeProject(events.postgres, project_id, organizationId)
  return project_id
}

/** A person whom reads identify by a browser: by a link that was loaded, or by an unsigned one. */
async function person(more: Row = {}, source = 'loaded') {
  const email = `${randomUUID()}@people.example`
  const [hem, cookie_id] = [hemOf(email), randomUUID()]
  await events.know({
    links: [linkOf(cookie_id, hem, { source })],
    profiles: [{ hem, first_name: 'Ada', last_name: 'Lovelace', ...more }],
  })
  return { email, hem, cookie_id }
}
const visit = (project_id: string, { cookie_id }: { cookie_id: string }, more: Row = {}) =>
  events.insert([eventOf(Date.now(), 10, { project_id, cookie_id, ...more })])

const ask = async (payload: object) => {
  const answer = await events.app.inject({ method: 'POST', url: path, payload })
  return { status: answer.statusCode, body: answer.json() }
}
/** Creates a rule that matches events from now on. */
async function rule(project_id: string, match: object, more: object = {}) {
  const payload = { project_id, name: 'Visit', tier: 'resolution_full_profile', match, ...more }
  const { status, body } = await ask(payload)
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body.visit_alert.visit_alert_id as string
}
const read = async (id: string) =>
  (await events.app.inject({ url: `${path}/${id}` })).json().visit_alert
const messages = async (id: string) =>
  (
    await events.postgres.query(
      `SELECT message_id, data FROM outbox_messages
       WHERE type = 'visit.matched' AND data->>'visit_alert_id' = $1 ORDER BY message_id`,
      [id],
    )
  ).rows
const charged = async (project_id: string) =>
  (
    await events.postgres.query(
      'SELECT meter, records::int FROM ledger WHERE project_id = $1 ORDER BY at',
      [project_id],
    )
  ).rows

describe('a match', () => {
  test('by person is reported once a day with the session so far, and charged once', async () => {
    const [project, ada] = [await openProject(), await person({ job_title: 'Countess' })]
    const id = await rule(
      project,
      { kind: 'person', person: ada.email },
      { member_ids: [owner], chat_url: 'https://chat.example/hook' },
    )
    await pass()
    expect(await messages(id)).toEqual([])
    await visit(project, ada, {
      ts_millis: Date.now() - 60_000,
      event_data: JSON.stringify({ title: '<!channel>\r\n\r\nYour account is locked' }),
      referrer_url: 'https://search.example/',
    })
    await visit(project, ada, { event_type: 'click' })
    // Another browser without an owner, and events long before.
    await visit(project, { cookie_id: randomUUID() })
    await visit(project, ada, { ts_millis: Date.now() - 7_200_000 })
    await pass()
    const [message, ...others] = await messages(id)
    expect(others).toEqual([])
    expect(message.data).toMatchObject({
      project_id: project,
      tier: 'resolution_full_profile',
      visitor: { hem: ada.hem, first_name: 'Ada', job_title: 'Countess' },
      session: {
        events: 2,
        page_views: 1,
        referrer_url: 'https://search.example/',
        pages: [{ url: 'https://shop.example/', title: expect.stringContaining('<!channel>') }],
      },
    })
    const { rows: mails } = await events.postgres.query(
      "SELECT recipient, body FROM outbox_mails WHERE subject = 'Shop: Visit'",
    )
    expect(mails).toEqual([
      { recipient: 'owner@acme.example', body: expect.stringContaining('Ada Lovelace · Countess') },
    ])
    expect(mails[0].body.split('\n')).toContain('- <!channel> Your account is locked /')
    const { rows: chats } = await events.postgres.query(
      'SELECT text FROM alert_chat_messages WHERE visit_alert_id = $1',
      [id],
    )
    expect(chats[0].text.split('\n')).toContain('- <!channel> Your account is locked /')
    await visit(project, ada)
    await Promise.all([pass(), pass()])
    expect(await messages(id)).toHaveLength(1)
    expect(await charged(project)).toEqual([{ meter: 'resolution_full_profile', records: 1 }])
    expect(await read(id)).toMatchObject({ last_sent_at: expect.any(String), paused_by: null })
  })

  test('by two workers at once is reported and charged once', async () => {
    const [project, ada] = [await openProject(), await person()]
    const id = await rule(project, { kind: 'person', person: ada.hem }, { tier: 'resolution_hem' })
    await visit(project, ada)
    await Promise.all([pass(), pass(), pass()])
    expect(await messages(id)).toHaveLength(1)
    expect(await charged(project)).toEqual([{ meter: 'resolution_hem', records: 1 }])
    expect((await messages(id))[0].data.visitor.first_name).toBeUndefined()
  })

  test('by several rules of a tier costs one record', async () => {
    const [project, ada] = [await openProject(), await person({ company_domain: 'acme.example' })]
    const { create, build } = events
    const audience = await create(
      {
        entity: 'people',
        include: { profile: { field: 'company_domain', op: 'eq', value: 'acme.example' } },
      },
      'Acme',
      project,
    )
    await build(audience)
    const rules = [
      await rule(project, { kind: 'company', company_domain: 'Acme.example' }),
      await rule(project, { kind: 'profile', filter: 'first_name:eq:Ada' }),
      await rule(project, { kind: 'audience', audience_id: audience }),
    ]
    const other = await rule(project, { kind: 'company', company_domain: 'other.example' })
    await visit(project, ada)
    await pass()
    for (const id of rules) expect(await messages(id)).toHaveLength(1)
    expect(await messages(other)).toEqual([])
    expect(await charged(project)).toEqual([{ meter: 'resolution_full_profile', records: 1 }])
  })

  test('is not reported as another person, to whom the browser belongs meanwhile', async () => {
    const [project, ada, bob] = [await openProject(), await person(), await person()]
    await rule(project, { kind: 'person', person: ada.hem })
    await visit(project, ada)
    await pass()
    // Ada is free for the rest of the day, and Bob is not.
    const id = await rule(project, { kind: 'profile', filter: 'resolved:eq:true' })
    await visit(project, ada)
    await match()
    const later = { source: 'loaded', observed_at: new Date(Date.now() + 1_000).toISOString() }
    await events.know({ links: [linkOf(ada.cookie_id, bob.hem, later)] })
    await report()
    expect(await messages(id)).toEqual([])
    expect(await charged(project)).toEqual([{ meter: 'resolution_full_profile', records: 1 }])
    await pass()
    expect((await messages(id)).map(({ data }) => data.visitor.hem)).toEqual([bob.hem])
    expect(await charged(project)).toEqual([
      { meter: 'resolution_full_profile', records: 1 },
      { meter: 'resolution_full_profile', records: 1 },
    ])
  })

  test('by rules of two tiers costs a record of each', async () => {
    const [project, ada] = [await openProject(), await person()]
    const who = { kind: 'person', person: ada.hem }
    const tiers = ['resolution_hem', 'resolution_full_profile']
    const rules = [
      await rule(project, who, { tier: tiers[0] }),
      await rule(project, who, { tier: tiers[1] }),
    ]
    await visit(project, ada)
    await pass()
    for (const id of rules) expect(await messages(id)).toHaveLength(1)
    const costs = await charged(project)
    expect(costs).toHaveLength(2)
    for (const meter of tiers) expect(costs).toContainEqual({ meter, records: 1 })
  })

  test('whose process died between charge and message is sent later with the same id', async () => {
    const [project, ada] = [await openProject(), await person()]
    const id = await rule(project, { kind: 'person', person: ada.hem })
    await visit(project, ada)
    await match()
    const { rows } = await events.postgres.query(
      'SELECT match_id FROM visit_alert_matches WHERE visit_alert_id = $1',
      [id],
    )
    // The message fails after the charge, as when the process is killed there.
    await events.postgres.query(
      'ALTER TABLE outbox_messages ADD CONSTRAINT broken CHECK (false) NOT VALID',
    )
    await report()
    await events.postgres.query('ALTER TABLE outbox_messages DROP CONSTRAINT broken')
    expect(problems.splice(0)).toHaveLength(1)
    expect(await charged(project)).toHaveLength(1)
    expect(await messages(id)).toEqual([])
    await report()
    expect(await messages(id)).toEqual([])
    await events.postgres.query(
      "UPDATE visit_alert_matches SET leased_until = now() - interval '1 s'",
    )
    await report()
    expect((await messages(id)).map(({ message_id }) => message_id)).toEqual([rows[0].match_id])
    expect(await charged(project)).toHaveLength(1)
  })

  test('shortly before midnight is reported and charged once', async () => {
    const midnight = Math.floor(Date.now() / 86_400_000 - 1) * 86_400_000
    const [project, ada] = [await openProject(), await person()]
    const id = await rule(project, { kind: 'person', person: ada.hem })
    await events.postgres.query(
      'UPDATE visit_alerts SET checked_until = $2 WHERE visit_alert_id = $1',
      [id, new Date(midnight - 5_000)],
    )
    const received_at = new Date(midnight - 3_000).toISOString()
    await visit(project, ada, { ts_millis: midnight - 3_000, received_at })
    for (const nowMs of [midnight - 1_000, midnight + 1_000, midnight + 3_000]) {
      await matchVisits(deps(), nowMs, signal)
      await report()
    }
    expect(await messages(id)).toHaveLength(1)
    expect(await charged(project)).toHaveLength(1)
    // A visit of the next day counts again, although the overlap still has the earlier one.
    const next = new Date(midnight + 2_000).toISOString()
    await visit(project, ada, { ts_millis: midnight + 2_000, received_at: next })
    await matchVisits(deps(), midnight + 4_000, signal)
    await report()
    expect(await messages(id)).toHaveLength(2)
  })

  test('of more people than one query returns is stored for each of them', async () => {
    const project = await openProject()
    const id = await rule(
      project,
      { kind: 'profile', filter: 'event_type:eq:page_view' },
      { tier: 'resolution_hem' },
    )
    const people = Array.from({ length: 1_100 }, () => ({
      hem: hemOf(`${randomUUID()}@people.example`),
      cookie_id: randomUUID(),
    }))
    await events.know({
      links: people.map(({ hem, cookie_id }) => linkOf(cookie_id, hem, { source: 'loaded' })),
    })
    const nowMs = Date.now()
    await events.insert(
      people.map(({ cookie_id }) => eventOf(nowMs, 10, { project_id: project, cookie_id })),
    )
    await match()
    const { rowCount } = await events.postgres.query(
      'DELETE FROM visit_alert_matches WHERE visit_alert_id = $1',
      [id],
    )
    expect(rowCount).toBe(people.length)
  })

  test('of another organization’s or project’s visit is none', async () => {
    const [project, ada] = [await openProject(), await person()]
    const id = await rule(project, { kind: 'person', person: ada.hem })
    await visit(await openProject(), ada)
    await visit(project, ada, { organization_id: randomUUID() })
    await visit(project, ada, { is_bot: true })
    await pass()
    expect(await messages(id)).toEqual([])
    const headers = { 'x-organization': randomUUID() }
    expect((await events.app.inject({ url: `${path}/${id}`, headers })).statusCode).toBe(404)
  })
})

describe('an unsigned visit', () => {
  const claimed = (more: Row = {}) => person(more, 'identify')

  test('is reported without charge and without identity data, and a verified one as before', async () => {
    const [project, forged] = [
      await openProject(),
      await claimed({ company_domain: 'acme.example' }),
    ]
    const id = await rule(
      project,
      { kind: 'company', company_domain: 'acme.example' },
      { member_ids: [owner], name: 'Acme' },
    )
    await visit(project, forged, {
      event_data: JSON.stringify({ title: 'Log in at https://evil.example' }),
      page_url: 'https://evil.example/pricing?next=www.evil.example',
    })
    await pass()
    const [message, ...others] = await messages(id)
    expect(others).toEqual([])
    expect(message.data).toMatchObject({ verified: false, charged: false, session: { events: 1 } })
    expect(message.data.visitor).toEqual({ cookie_id: forged.cookie_id })
    const { rows } = await events.postgres.query(
      "SELECT body FROM outbox_mails WHERE subject = 'Shop: Acme'",
    )
    const lines = rows[0].body.split('\n')
    expect(lines[0]).toBe('A visitor who claims to be of the company acme.example')
    expect(lines).toContain('- /pricing')
    for (const hidden of ['Ada', 'Lovelace', forged.hem, 'evil'])
      expect(rows[0].body).not.toContain(hidden)
    expect(await charged(project)).toEqual([])

    // The same person by a signed link of another browser.
    const cookie_id = randomUUID()
    await events.know({ links: [linkOf(cookie_id, forged.hem, { source: 'signed' })] })
    await visit(project, { cookie_id })
    await pass()
    const second = (await messages(id))[1]
    expect(second.data).toMatchObject({
      verified: true,
      charged: true,
      visitor: { hem: forged.hem },
    })
    expect(await charged(project)).toHaveLength(1)
    expect(await read(id)).toMatchObject({ matched_7_days: { verified: 1, unverified: 1 } })
  })

  test('is reported at most 20 times a day and rule, counted always, and never silences a verified one', async () => {
    const [project, ada] = [await openProject(), await person()]
    const id = await rule(
      project,
      { kind: 'profile', filter: 'event_type:eq:page_view' },
      { tier: 'resolution_hem' },
    )
    const people = Array.from({ length: 1_200 }, () => ({
      hem: hemOf(`${randomUUID()}@people.example`),
      cookie_id: randomUUID(),
    }))
    await events.know({
      links: people.map(({ hem, cookie_id }) => linkOf(cookie_id, hem, { source: 'form' })),
    })
    const nowMs = Date.now()
    await events.insert(
      people.map(({ cookie_id }) => eventOf(nowMs, 10, { project_id: project, cookie_id })),
    )
    await visit(project, ada)
    await pass()
    const sent = await messages(id)
    expect(sent.filter(({ data }) => !data.verified)).toHaveLength(20)
    expect(sent.filter(({ data }) => data.verified).map(({ data }) => data.visitor.hem)).toEqual([
      ada.hem,
    ])
    await pass()
    expect(await read(id)).toMatchObject({ matched_7_days: { verified: 1, unverified: 1_200 } })
    expect(await messages(id)).toHaveLength(21)
    expect(await charged(project)).toEqual([{ meter: 'resolution_hem', records: 1 }])
  })

  test('is charged up to the number that the rule allows, and reported like a verified one', async () => {
    const [project, first, second] = [await openProject(), await claimed(), await claimed()]
    const id = await rule(
      project,
      { kind: 'profile', filter: 'first_name:eq:Ada' },
      { unverified_charges_max: 1 },
    )
    expect(await read(id)).toMatchObject({ unverified_charges_max: 1 })
    await visit(project, first)
    await pass()
    await visit(project, second)
    await pass()
    expect((await messages(id)).map(({ data }) => data)).toMatchObject([
      { verified: false, charged: true, visitor: { hem: first.hem, first_name: 'Ada' } },
      { verified: false, charged: false, visitor: { cookie_id: second.cookie_id } },
    ])
    expect(await charged(project)).toEqual([{ meter: 'resolution_full_profile', records: 1 }])
  })

  test('is reported while a budget pauses charged messages, and deleted by an erasure', async () => {
    const [project, forged] = [await openProject(), await claimed()]
    await events.postgres.query(
      'INSERT INTO project_budgets (project_id, monthly_micros) VALUES ($1, 0)',
      [project],
    )
    const id = await rule(project, { kind: 'person', person: forged.hem })
    await visit(project, forged)
    await pass()
    expect(await messages(id)).toHaveLength(1)
    expect(await read(id)).toMatchObject({ paused_by: 'budget_exceeded' })
    await requestErasure(events.postgres, organizationId, { hem: forged.hem })
    await carryOutErasures({ postgres: events.postgres, clickhouse: events.clickhouse.live })
    expect(await messages(id)).toEqual([])
  })
})

describe('many rules', () => {
  test('of one organization do not delay those of another', async () => {
    const other = randomUUID()
    // The last one by its id.
    const project = `ffffffff-ffff-4fff-bfff-${other.slice(24)}`
    await storeOrganization(events.postgres, other, 'Other')
    await storeProject(events.postgres, project, other)
    const kind = { kind: 'person', person: (await person()).email }
    const ids = [await rule(await openProject(), kind), await rule(await openProject(), kind)]
    await events.postgres.query(
      `INSERT INTO visit_alerts (visit_alert_id, project_id, name, tier, match, active, member_ids)
       SELECT gen_random_uuid(), $1, name, tier, match, true, '{}' FROM visit_alerts WHERE visit_alert_id = $2`,
      [project, ids[0]],
    )
    const rules = await readActiveRules(events.postgres)
    expect(rules.findIndex((rule) => rule.organization_id === other)).toBeLessThanOrEqual(1)
  })

  test('that take longer than a pass go on in the next one, those that wait longest first', async () => {
    const [project, ada] = [await openProject(), await person()]
    const kind = { kind: 'person', person: ada.email }
    const first = await rule(project, kind)
    const second = await rule(project, kind)
    const waits = (id: string, minutes: number) =>
      events.postgres.query(
        `UPDATE visit_alerts SET checked_until = now() - $2 * interval '1 minute' WHERE visit_alert_id = $1`,
        [id, minutes],
      )
    await Promise.all([waits(first, 1), waits(second, 2)])
    await visit(project, ada)
    const shortPass = async () => {
      await matchVisits(deps(), Date.now(), signal, 0)
      await report()
    }
    const counts = async () => [(await messages(first)).length, (await messages(second)).length]
    await shortPass()
    expect(await counts()).toEqual([0, 1])
    await shortPass()
    expect(await counts()).toEqual([1, 1])
  })
})

test('a rule that takes a whole pass, and fails, does not keep those of other organizations from theirs', async () => {
  const { postgres } = events
  const [project, ada] = [await openProject(), await person()]
  const matched = await rule(project, { kind: 'person', person: ada.email })
  const other = randomUUID()
  await storeOrganization(postgres, other, 'Other')
  await postgres.query(
    "INSERT INTO projects (project_id, organization_id, name) VALUES ($1, $1, 'Shop')",
    [other],
  )
  // The first one by its id, and by its time.
  await postgres.query(
    `INSERT INTO visit_alerts (visit_alert_id, project_id, name, tier, match, checked_until)
     SELECT '00000000-0000-4000-8000-000000000000', $1, name, tier, '{"kind":"profile","filter":"nonsense"}', now() - interval '1 hour'
     FROM visit_alerts WHERE visit_alert_id = $2`,
    [other, matched],
  )
  await visit(project, ada)
  await events.insert([
    eventOf(Date.now(), 10, { organization_id: other, project_id: other, cookie_id: randomUUID() }),
  ])
  for (let passes = 0; passes < 3; passes++) await matchVisits(deps(), Date.now(), signal, 0)
  await report()
  expect(await messages(matched)).toHaveLength(1)
  expect(problems.splice(0)).not.toEqual([])
})

test('without budget nothing is sent, whether or not somebody visits, and the rule says so', async () => {
  const [project, ada] = [await openProject(), await person()]
  const [quiet, visited] = [await openProject(), project]
  for (const each of [quiet, visited])
    await events.postgres.query(
      'INSERT INTO project_budgets (project_id, monthly_micros) VALUES ($1, 0)',
      [each],
    )
  const id = await rule(visited, { kind: 'person', person: ada.hem })
  const other = await rule(quiet, { kind: 'person', person: ada.hem })
  await visit(project, ada)
  await pass()
  expect(await messages(id)).toEqual([])
  expect(await charged(project)).toEqual([])
  expect(await read(id)).toMatchObject({ paused_by: 'budget_exceeded', last_sent_at: null })
  expect(await read(other)).toMatchObject({ paused_by: 'budget_exceeded', last_sent_at: null })
})

test('a budget that ends between match and message pauses the rule at once', async () => {
  const [project, ada] = [await openProject(), await person()]
  const id = await rule(project, { kind: 'profile', filter: 'first_name:eq:Ada' })
  await visit(project, ada)
  await match()
  await events.postgres.query(
    'INSERT INTO project_budgets (project_id, monthly_micros) VALUES ($1, 0)',
    [project],
  )
  await report()
  expect(await read(id)).toMatchObject({ paused_by: 'budget_exceeded', last_sent_at: null })
  expect(await messages(id)).toEqual([])
  expect(await charged(project)).toEqual([])
})

test('people who opted out are never reported, not even between match and message', async () => {
  const [project, ada, bob] = [await openProject(), await person(), await person()]
  const id = await rule(project, { kind: 'profile', filter: 'first_name:eq:Ada' })
  const optOut = async (hem: string) => {
    await addOptOut(events.postgres, organizationId, { hem })
    await syncToClickHouse(events.postgres, events.clickhouse.live)
  }
  await optOut(ada.hem)
  await visit(project, ada)
  await pass()
  expect(await messages(id)).toEqual([])
  await visit(project, bob)
  await match()
  await optOut(bob.hem)
  await report()
  expect(await messages(id)).toEqual([])
  expect(await charged(project)).toEqual([])
})

test('an erasure deletes the messages about the person', async () => {
  const [project, ada, bob] = [await openProject(), await person(), await person()]
  const id = await rule(project, { kind: 'profile', filter: 'first_name:eq:Ada' })
  for (const each of [ada, bob]) await visit(project, each)
  await pass()
  expect(await messages(id)).toHaveLength(2)
  await requestErasure(events.postgres, organizationId, { hem: ada.hem })
  await carryOutErasures({ postgres: events.postgres, clickhouse: events.clickhouse.live })
  expect((await messages(id)).map(({ data }) => data.visitor.hem)).toEqual([bob.hem])
})

test('a person who is being erased is never reported', async () => {
  const [project, ada] = [await openProject(), await person()]
  const id = await rule(project, { kind: 'person', person: ada.hem })
  await events.postgres.query(
    "INSERT INTO erasures (organization_id, hem, cookie_ids) VALUES ($1, $2, '{}')",
    [organizationId, ada.hem],
  )
  await visit(project, ada)
  await pass()
  expect(await messages(id)).toEqual([])
})

describe('a rule', () => {
  test('can be changed, switched off and deleted', async () => {
    const [project, ada] = [await openProject(), await person()]
    const id = await rule(project, { kind: 'person', person: ada.hem })
    const change = (payload: object) =>
      events.app.inject({ method: 'PATCH', url: `${path}/${id}`, payload })
    const before = await read(id)
    expect((await change({ name: 'Off', active: false })).json().visit_alert).toEqual({
      ...before,
      name: 'Off',
      active: false,
      version: 2,
      updated_at: expect.any(String),
    })
    await visit(project, ada)
    await pass()
    expect(await messages(id)).toEqual([])
    expect((await change({ version: 1 })).json()).toMatchObject({ code: 'version_conflict' })
    expect((await events.app.inject({ method: 'DELETE', url: `${path}/${id}` })).statusCode).toBe(
      204,
    )
    expect((await events.app.inject({ url: `${path}/${id}` })).statusCode).toBe(404)
  })

  test('checks its match at another tier, and keeps its person', async () => {
    const [project, ada] = [await openProject(), await person()]
    const change = (id: string, payload: object) =>
      events.app.inject({ method: 'PATCH', url: `${path}/${id}`, payload })
    const ofPerson = await rule(project, { kind: 'person', person: ada.email })
    const changed = await change(ofPerson, { tier: 'resolution_hem' })
    expect(changed.json().visit_alert).toMatchObject({
      tier: 'resolution_hem',
      match: { kind: 'person', hem: ada.hem },
    })
    const ofCompany = await rule(project, { kind: 'company', company_domain: 'a.example' })
    expect((await change(ofCompany, { tier: 'resolution_hem' })).json()).toMatchObject({
      parameter: 'tier',
    })
  })

  test.each<[string, object, string]>([
    [
      'a filter above its tier',
      { tier: 'resolution_hem', match: { kind: 'profile', filter: 'first_name:eq:Ada' } },
      'match.filter',
    ],
    [
      'a company below the full profile',
      { tier: 'resolution_hem', match: { kind: 'company', company_domain: 'a.example' } },
      'tier',
    ],
    [
      'a member of another kind',
      { match: { kind: 'person', person: 'a@b.example', filter: 'x:eq:y' } },
      'match.filter',
    ],
    ['nobody', { match: { kind: 'person' } }, 'match.person'],
    ['no address', { match: { kind: 'person', person: 'nobody' } }, 'match.person'],
    [
      'an unknown audience',
      { match: { kind: 'audience', audience_id: randomUUID() } },
      'match.audience_id',
    ],
    ['session fields', { match: { kind: 'profile', filter: 'is_entry:eq:true' } }, 'match.filter'],
    [
      'a member of the project who may not see identities',
      { match: { kind: 'person', person: 'a@b.example' }, member_ids: [plain] },
      'member_ids',
    ],
  ])('is refused with %s', async (_, more, parameter) => {
    const project_id = await openProject()
    await events.postgres.query(
      "INSERT INTO project_members (project_id, member_id, role) VALUES ($1, $2, 'member')",
      [project_id, plain],
    )
    const answer = await ask({ project_id, name: 'x', tier: 'resolution_full_profile', ...more })
    expect(answer).toMatchObject({ status: 400, body: { parameter } })
  })

  test('is refused with an audience of another project', async () => {
    const [project_id, other] = [await openProject(), await openProject()]
    const include = { profile: { field: 'company_domain', op: 'eq', value: 'acme.example' } }
    const audience_id = await events.create({ entity: 'people', include }, 'Acme', other)
    const match = { kind: 'audience', audience_id }
    const answer = await ask({ project_id, name: 'x', tier: 'resolution_full_profile', match })
    expect(answer).toMatchObject({ status: 400, body: { parameter: 'match.audience_id' } })
  })
})

test('no pass failed', () => expect(problems).toEqual([]))
