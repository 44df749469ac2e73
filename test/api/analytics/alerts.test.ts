/** Alerts: which conditions raise them, who hears of it, and how often. */
import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { storeMember } from '../../../collector/accounts/members/newMember.ts'
import { postToChats } from '../../../collector/analytics/alerts/alertChannels.ts'
import { checkAlerts } from '../../../collector/analytics/alerts/alertJobs.ts'
import { openOutbound } from '../../../collector/platform/outbound/outbound.ts'
import { createSecretBox } from '../../../collector/platform/outbound/secretBox.ts'
import { storeOrganization, storeProject } from '../../harness/owners.ts'
import { type StandIn, startStandIn } from '../../harness/standIns/standIn.ts'
import { eventOf, openEvents, organizationId, type Row } from '../events/harness.ts'

const hour = 3_600_000
const day = 24 * hour
/** Wednesday 18 November 2026, 12:00 UTC. */
const noon = Date.UTC(2026, 10, 18, 12)
const path = '/api/v1/analytics/alerts'
const secretKey = randomBytes(32)

let events: Awaited<ReturnType<typeof openEvents>>
let chat: StandIn
const [owner, plain] = [randomUUID(), randomUUID()]
beforeAll(async () => {
  chat = await startStandIn(() => ({ status: 200, body: 'ok' }))
  events = await openEvents({
    env: {
      FOOTFALL_SECRET_KEY: secretKey.toString('base64'),
      FOOTFALL_OUTBOUND_ALLOW: '127.0.0.1',
    },
  })
  await storeOrganization(events.postgres, organizationId)
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
afterAll(async () => {
  await events.close()
  await chat.close()
})
// Each check measures all active alerts.
afterEach(() => events.postgres.query('UPDATE alerts SET active = false'))

const deps = () => ({
  postgres: events.postgres,
  openQueryExecutor: events.openQueryExecutor,
  outbound: openOutbound({ allow: ['127.0.0.1'] }),
  secretBox: createSecretBox([secretKey]),
  publicUrl: 'https://footfall.example',
  log: { warn: (...said: unknown[]) => problems.push(said) },
})
const problems: unknown[] = []
const check = (nowMs: number) => checkAlerts(deps(), nowMs, new AbortController().signal)

/** A project with these events; each is given by how long before noon it happened. */
async function openProject(agoMs: number[] = [], more: Row = {}) {
  const project_id = randomUUID()
  await storeProject(events.postgres, project_id, organizationId)
  await events.insertHits(agoMs.map((ago) => eventOf(noon, ago, { project_id, ...more })))
  return project_id
}

const create = async (project_id: string, condition: object, more: object = {}) => {
  const payload = { project_id, name: 'Look', condition: { window: 'hour', ...condition }, ...more }
  const answer = await events.app.inject({ method: 'POST', url: path, payload })
  return { status: answer.statusCode, body: answer.json() }
}
const created = async (project_id: string, condition: object, more: object = {}) => {
  const { status, body } = await create(project_id, condition, more)
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body.alert.alert_id as string
}
const read = async (alertId: string) =>
  (await events.app.inject({ url: `${path}/${alertId}` })).json().alert

/** Whether an alert with this condition is raised at noon, and the figure; null: nothing to compare with. */
async function outcome(project_id: string, condition: object) {
  const id = await created(project_id, condition)
  await check(noon)
  const { is_raised, last_value } = await read(id)
  return last_value === null ? null : { is_raised, last_value }
}
const weeksAgo = (...counts: number[]) =>
  counts.flatMap((count, week) =>
    Array.from({ length: count }, (_, n) => week * 7 * day + 1_000 + n),
  )

describe('a threshold', () => {
  test('is compared with the metric of the window, without bots and by the filter', async () => {
    const project = await openProject([1_000, 2_000, 2 * hour])
    await events.insertHits([
      eventOf(noon, 3_000, { project_id: project, is_bot: true }),
      eventOf(noon, 3_000, { project_id: project, event_type: 'click', page_path: '/a' }),
    ])
    const threshold = { kind: 'threshold', metric: 'events' }
    expect(await outcome(project, { ...threshold, value: 2 })).toEqual({
      is_raised: true,
      last_value: 3,
    })
    expect(await outcome(project, { ...threshold, value: 3 })).toMatchObject({ is_raised: false })
    expect(await outcome(project, { ...threshold, value: 3, window: 'day' })).toEqual({
      is_raised: true,
      last_value: 4,
    })
    expect(
      await outcome(project, { ...threshold, metric: 'page_views', value: 3, direction: 'below' }),
    ).toEqual({ is_raised: true, last_value: 2 })
    expect(await outcome(project, { ...threshold, filter: 'page_path:eq:/a', value: 0 })).toEqual({
      is_raised: true,
      last_value: 1,
    })
  })
})

describe('a change', () => {
  const change = { kind: 'change', metric: 'page_views', value: 50 }
  test('is measured against the same hour of the four weeks before', async () => {
    const fell = await openProject(weeksAgo(4, 10, 10, 10, 10))
    expect(await outcome(fell, { ...change, direction: 'below' })).toEqual({
      is_raised: true,
      last_value: 4,
    })
    expect(await outcome(fell, { ...change, direction: 'above' })).toMatchObject({
      is_raised: false,
    })
    expect(await outcome(fell, { ...change, direction: 'either', value: 61 })).toMatchObject({
      is_raised: false,
    })
    const rose = await openProject(weeksAgo(15, 10, 10))
    expect(await outcome(rose, { ...change, direction: 'above' })).toEqual({
      is_raised: true,
      last_value: 15,
    })
  })
  test('is unknown while the project has events of one week only', async () => {
    const young = await openProject(weeksAgo(1, 10))
    expect(await outcome(young, { ...change, direction: 'either' })).toBeNull()
  })

  test('is compared with the same local hour, also after clocks changed', async () => {
    // Clocks in New York went back on 1 November 2026. Until then, 07:00 there was 11:00 UTC.
    const sameLocalHour = [3, 4].flatMap((week) =>
      Array.from({ length: 10 }, (_, n) => week * 7 * day + hour + 1_000 + n),
    )
    const [utc, local] = [
      await openProject([...weeksAgo(4), ...sameLocalHour]),
      await openProject([...weeksAgo(4), ...sameLocalHour]),
    ]
    await events.postgres.query('UPDATE projects SET time_zone = $2 WHERE project_id = $1', [
      local,
      'America/New_York',
    ])
    expect(await outcome(utc, { ...change, direction: 'below' })).toBeNull()
    expect(await outcome(local, { ...change, direction: 'below' })).toEqual({
      is_raised: true,
      last_value: 4,
    })
  })
})

test('silence is an hour without events in a project that had some, and not in an unused one', async () => {
  const silence = { kind: 'silence' }
  expect(await outcome(await openProject([2 * hour]), silence)).toEqual({
    is_raised: true,
    last_value: 0,
  })
  expect(await outcome(await openProject([1_000]), silence)).toMatchObject({ is_raised: false })
  expect(await outcome(await openProject(), silence)).toBeNull()
  expect(await outcome(await openProject([30 * day]), silence)).toBeNull()
})

test('a goal is reached by visitors, and an alert whose goal was removed is never raised', async () => {
  const cookie_id = randomUUID()
  const project = await openProject([1_000, 2_000], { page_path: '/thanks', cookie_id })
  const goals = [{ name: 'Ordered', filter: 'page_path:eq:/thanks' }]
  const put = (goals: object[]) =>
    events.app.inject({
      method: 'PUT',
      url: '/api/v1/analytics/goals',
      payload: { project_id: project, goals },
    })
  expect((await create(project, { kind: 'goal', goal: 'Ordered' })).status).toBe(400)
  await put(goals)
  expect(await outcome(project, { kind: 'goal', goal: 'Ordered', value: 1 })).toEqual({
    is_raised: true,
    last_value: 1,
  })
  expect(await outcome(project, { kind: 'goal', goal: 'Ordered', value: 2 })).toMatchObject({
    is_raised: false,
  })
  const id = await created(project, { kind: 'goal', goal: 'Ordered' })
  await put([])
  await check(noon)
  expect(await read(id)).toMatchObject({ is_raised: false, last_value: null })
})

describe('an alert', () => {
  const told = async (alertId: string) => {
    const [mails, messages, chats] = await Promise.all([
      events.postgres.query(
        'SELECT recipient, subject, body FROM outbox_mails WHERE subject LIKE $1',
        [`%${alertId.slice(0, 8)}%`],
      ),
      events.postgres.query(
        "SELECT type, data FROM outbox_messages WHERE data->>'alert_id' = $1 ORDER BY message_id",
        [alertId],
      ),
      events.postgres.query('SELECT text FROM alert_chat_messages WHERE alert_id = $1', [alertId]),
    ])
    return { mails: mails.rows, messages: messages.rows, chats: chats.rows.length }
  }

  test('is reported once when it begins, once when it ends, and again when it begins again', async () => {
    const project = await openProject([1_000])
    const threshold = { kind: 'threshold', metric: 'events', value: 1, direction: 'below' }
    const id = await created(project, threshold, {
      member_ids: [owner],
      chat_url: `${chat.url}/hook/secret`,
    })
    const name = `<!channel> & ${id.slice(0, 8)}`
    await events.postgres.query('UPDATE alerts SET name = $2 WHERE alert_id = $1', [id, name])
    await check(noon)
    expect(await told(id)).toMatchObject({ mails: [], messages: [], chats: 0 })
    // An hour later the event is out of the window.
    for (const later of [2 * hour, 2 * hour + 60_000, 3 * hour]) await check(noon + later)
    await Promise.all([check(noon + 3 * hour), check(noon + 3 * hour)])
    expect(await told(id)).toEqual({
      mails: [
        {
          recipient: 'owner@acme.example',
          subject: `Shop: ${name}`,
          body: `0 events in the last hour (limit 1).\n\nhttps://footfall.example/${organizationId}/projects/${project}/alerts\n`,
        },
      ],
      messages: [
        {
          type: 'alert.raised',
          data: expect.objectContaining({
            alert_id: id,
            project_id: project,
            value: 0,
            usual: null,
          }),
        },
      ],
      chats: 1,
    })
    expect(await read(id)).toMatchObject({ is_raised: true, changed_at: expect.any(String) })
    await check(noon + 1_000)
    await check(noon + 5 * hour)
    const { messages, mails } = await told(id)
    expect(messages.map(({ type }) => type)).toEqual([
      'alert.raised',
      'alert.resolved',
      'alert.raised',
    ])
    expect(mails.map(({ subject }) => subject)).toEqual([
      `Shop: ${name}`,
      `Shop: ${name} is normal again`,
      `Shop: ${name}`,
    ])

    chat.misbehave = () => ({ answer: { status: 500 } })
    await postToChats(deps(), new AbortController().signal)
    expect((await told(id)).chats).toBe(3)
    chat.misbehave = () => null
    await postToChats(deps(), new AbortController().signal)
    // They wait a minute before the next try.
    expect((await told(id)).chats).toBe(3)
    await events.postgres.query('UPDATE alert_chat_messages SET due_at = now()')
    chat.asked.length = 0
    await postToChats(deps(), new AbortController().signal)
    expect((await told(id)).chats).toBe(0)
    expect(chat.asked.map(({ url }) => url.pathname)).toEqual(Array(3).fill('/hook/secret'))
    const texts: string[] = chat.asked.map(({ body }) => JSON.parse(body.toString()).text)
    expect(
      texts.filter((text) =>
        /^\*Shop: &lt;!channel&gt; &amp; .*\*\n0 events in the last hour/.test(text),
      ),
    ).toHaveLength(2)
  })

  test('of another organization is neither checked nor posted after all of this one', async () => {
    const other = randomUUID()
    // The last one by its id.
    const project = `ffffffff-ffff-4fff-bfff-${other.slice(24)}`
    await storeOrganization(events.postgres, other, 'Other')
    await storeProject(events.postgres, project, other)
    const silence = { kind: 'silence', window: 'hour' }
    const chat_url = `${chat.url}/hook/turns`
    const id = await created(await openProject(), silence, { chat_url })
    await created(await openProject(), silence)
    await created(await openProject(), silence)
    const { rows } = await events.postgres.query<{ alert_id: string }>(
      `INSERT INTO alerts (alert_id, project_id, name, condition, active, member_ids)
       VALUES (gen_random_uuid(), $1, 'Look', $2, true, '{}') RETURNING alert_id`,
      [project, silence],
    )
    const theirs = rows[0]!.alert_id
    const checked: string[] = []
    const openQueryExecutor: typeof events.openQueryExecutor = (readFor, by) => {
      checked.push(readFor.organizationId)
      return events.openQueryExecutor(readFor, by)
    }
    await checkAlerts({ ...deps(), openQueryExecutor }, noon, new AbortController().signal)
    expect(checked.indexOf(other)).toBeLessThanOrEqual(1)

    await events.postgres.query('DELETE FROM alert_chat_messages')
    for (const [alertId, minutes] of [...Array(60).fill([id, 10]), [theirs, 1]] as const)
      await events.postgres.query(
        `INSERT INTO alert_chat_messages (message_id, alert_id, title, text, due_at)
         VALUES (gen_random_uuid(), $1, 'Look', 'No events', now() - $2 * interval '1 minute')`,
        [alertId, minutes],
      )
    await postToChats(deps(), new AbortController().signal)
    expect(await told(theirs)).toMatchObject({ chats: 0 })
    expect(await told(id)).toMatchObject({ chats: 11 })
  })

  test('that is switched off is not checked; another condition begins as normal', async () => {
    const project = await openProject([1_000])
    const condition = {
      kind: 'threshold',
      metric: 'events',
      window: 'hour',
      direction: 'above',
      value: 0,
    }
    const id = await created(project, condition)
    const update = (payload: object) =>
      events.app.inject({ method: 'PATCH', url: `${path}/${id}`, payload })
    await check(noon)
    expect(await read(id)).toMatchObject({ is_raised: true, active: true })
    expect((await update({ active: false })).json().alert).toMatchObject({ is_raised: false })
    const { last_checked_at } = await read(id)
    await check(noon)
    expect(await read(id)).toMatchObject({ last_checked_at })
    await update({ active: true })
    await check(noon)
    expect((await update({ condition: { ...condition, value: 5 } })).json().alert).toMatchObject({
      is_raised: false,
      version: 4,
    })
    expect((await update({ version: 1 })).json()).toMatchObject({ code: 'version_conflict' })
    expect((await events.app.inject({ method: 'DELETE', url: `${path}/${id}` })).statusCode).toBe(
      204,
    )
    expect((await events.app.inject({ url: `${path}/${id}` })).statusCode).toBe(404)
  })

  test('keeps what a change omits, also a member who may no longer read the project', async () => {
    const project = await openProject()
    const { body } = await create(
      project,
      { kind: 'silence', filter: 'country:eq:DE' },
      { chat_url: `${chat.url}/kept`, member_ids: [owner] },
    )
    await events.postgres.query('UPDATE alerts SET member_ids = $2 WHERE alert_id = $1', [
      body.alert.alert_id,
      [plain],
    ])
    const answer = await events.app.inject({
      method: 'PATCH',
      url: `${path}/${body.alert.alert_id}?project_id=${project.toUpperCase()}`,
      payload: { name: 'Quiet' },
    })
    expect(answer.json().alert).toEqual({
      ...body.alert,
      name: 'Quiet',
      member_ids: [plain],
      version: 2,
      updated_at: expect.any(String),
    })
  })

  test('never shows the address of its chat, which is sealed', async () => {
    const project = await openProject()
    const url = `${chat.url}/hidden-${randomUUID()}`
    const { body } = await create(project, { kind: 'silence' }, { chat_url: url })
    expect(body.alert).toMatchObject({ has_chat_url: true })
    expect(JSON.stringify(body)).not.toContain('hidden')
    const { rows } = await events.postgres.query(
      'SELECT chat_url FROM alerts WHERE alert_id = $1',
      [body.alert.alert_id],
    )
    expect(rows[0].chat_url).toMatch(/^v1\./)
  })

  test.each<[string, object, object, string]>([
    ['a filter by identity', { kind: 'silence', filter: 'hem:eq:x' }, {}, 'condition.filter'],
    ['a filter that cannot be read', { kind: 'silence', filter: 'x' }, {}, 'condition.filter'],
    [
      'either side of a threshold',
      { kind: 'threshold', direction: 'either' },
      {},
      'condition.direction',
    ],
    ['an unknown goal', { kind: 'goal', goal: 'None' }, {}, 'condition.goal'],
    [
      'a chat inside the network',
      { kind: 'silence' },
      { chat_url: 'http://10.0.0.1/x' },
      'chat_url',
    ],
    [
      'a member without access to the project',
      { kind: 'silence' },
      { member_ids: [plain] },
      'member_ids',
    ],
    [
      'somebody who is no member',
      { kind: 'silence' },
      { member_ids: [randomUUID()] },
      'member_ids',
    ],
  ])('is refused with %s', async (_, condition, more, parameter) => {
    const answer = await create(await openProject(), condition, more)
    expect(answer).toMatchObject({ status: 400, body: { parameter } })
  })

  test('is one of at most 50 of a project', async () => {
    const project = await openProject()
    for (let n = 0; n < 50; n++) await created(project, { kind: 'silence' })
    expect(await create(project, { kind: 'silence' })).toMatchObject({
      status: 409,
      body: { code: 'count_limit_reached' },
    })
  })

  test('of another organization does not exist', async () => {
    const id = await created(await openProject(), { kind: 'silence' })
    const headers = { 'x-organization': randomUUID() }
    for (const method of ['GET', 'DELETE'] as const)
      expect((await events.app.inject({ method, url: `${path}/${id}`, headers })).statusCode).toBe(
        404,
      )
  })
})

test('no check failed', () => expect(problems).toEqual([]))
