import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readErasure, requestErasure } from '../../../../collector/identity/privacy/erasures.ts'
import { privacyRequests } from '../../../../collector/identity/privacy/optOuts.ts'
import { reloadIdentity } from '../../../../collector/identity/store/refresh.ts'
import { hemOf } from '../../../../collector/platform/hem.ts'
import { wakeQueue } from '../../../../collector/platform/jobs/queue.ts'
import { beaconOf, customEvent, postBeacon } from '../../../harness/api.ts'
import { waitFor } from '../../../harness/service.ts'
import { openPrivacy, type Privacy } from './harness.ts'

let it: Privacy
beforeAll(async () => {
  it = await openPrivacy()
})
afterAll(() => it.close())

const path = '/api/v1/privacy/subject'

/** How many rows of a browser the tables have, for one organization. */
async function rowsOf(organization: string, cookie: string): Promise<number[]> {
  const of = 'organization_id = {organization:UUID} AND cookie_id = {cookie:UUID}'
  const counts = ['events', 'rejected_events', 'identity_links'].map(
    (table) => `(SELECT count() FROM ${table} WHERE ${of})`,
  )
  const [found] = await it.clickhouse.rows<{ counts: number[] }>({
    sql: `SELECT [${counts.join(', ')}] AS counts`,
    params: { organization, cookie },
  })
  return found!.counts.map(Number)
}

const gone = (organization: string, cookie: string) =>
  waitFor(
    'the rows to go',
    async () => (await rowsOf(organization, cookie)).every((count) => count === 0),
    20_000,
  )

/** As if an erasure had been asked for long ago. */
const age = (erasureId: string) =>
  it.postgres.query(
    `UPDATE erasures SET requested_at = requested_at - interval '11 minutes' WHERE erasure_id = $1`,
    [erasureId],
  )

/** Without it, an erasure that waits for rows in transit runs once a minute. */
const runAgain = () => wakeQueue(it.postgres, privacyRequests)

const complete = (erasureId: string) =>
  waitFor(
    'the erasure',
    async () => {
      await runAgain()
      const { erasure } = await it.done(it.key, `GET /api/v1/privacy/erasures/${erasureId}`)
      return erasure.status === 'complete'
    },
    30_000,
  )

describe('erasing a person', () => {
  test('reaches events, rejected events, links and dead letters; another organization keeps its own', async () => {
    const { email, hem, cookie } = await it.meet()
    const bad = customEvent({}, { event_type: 'nonsense' })
    for (const pixel_id of [it.demo.pixel_id, it.stranger.pixel]) {
      await postBeacon(it.url, beaconOf(it.service, [bad], { pixel_id, cookie_id: cookie }))
    }
    const organizations = [it.demo.organization_id, it.stranger.organization]
    for (const organization of organizations) {
      await waitFor('the rows', async () => (await rowsOf(organization, cookie)).join() === '1,1,1')
    }
    const letters = join(it.service.dataDir, 'dead_letters')
    mkdirSync(letters, { recursive: true })
    const letterOf = (cookie_id: string) =>
      JSON.stringify({
        table: 'events',
        reason: 'none',
        row: JSON.stringify({ organization_id: it.demo.organization_id, cookie_id }),
      })
    const file = join(letters, 'some.jsonl')
    writeFileSync(file, `${letterOf(cookie)}\n${letterOf('of another')}\n`)

    const { erasure } = await it.done(it.key, `DELETE ${path}`, { email })
    expect(erasure).toMatchObject({ status: 'pending', completed_at: null })
    const { entries } = await it.done(it.owner, 'GET /dashboard/audit?limit=2')
    expect(entries.map(({ action }: { action: string }) => action)).toEqual([
      'erasure.create',
      'opt_out.create',
    ])
    await gone(it.demo.organization_id, cookie)
    // The collector looks through its own dead letters, at a time of its own.
    const kept = `${letterOf('of another')}\n`
    await waitFor('the dead letter', () => readFileSync(file, 'utf8') === kept)
    expect(await rowsOf(it.stranger.organization, cookie)).toEqual([1, 1, 1])
    expect(await it.hemsOf(it.stranger.key, cookie)).toEqual([hem])
    // Opted out as well: nothing new of theirs is taken.
    await waitFor('the opt-out', async () => (await it.visit(it.demo.pixel_id, cookie)) === 0)
  })

  test('whom only the operator’s graph knows: their events here go, the graph stays for others', async () => {
    const { email, hem } = await it.meet()
    const cookie = crypto.randomUUID()
    for (const pixel of [it.demo.pixel_id, it.stranger.pixel])
      expect(await it.visit(pixel, cookie)).toBe(1)
    await it.linkForAll(cookie, hem)
    await it.shown(it.key, cookie, [hem])
    await it.done(it.key, `DELETE ${path}`, { email })
    await it.shown(it.key, cookie, [])
    await it.shown(it.stranger.key, cookie, [hem])
  })

  test('is complete when what was on its way is gone too, and then forgets whom it was about', async () => {
    const { email, cookie } = await it.meet()
    const { erasure } = await it.done(it.key, `DELETE ${path}`, { email })
    await gone(it.demo.organization_id, cookie)
    const read = async () =>
      (await it.done(it.key, `GET /api/v1/privacy/erasures/${erasure.erasure_id}`)).erasure
    expect(erasure).toMatchObject({ step: 'deleting', emptied_at: null })
    await waitFor('nothing to be left', async () => (await read()).step === 'waiting')
    expect(await read()).toMatchObject({ status: 'pending', emptied_at: expect.any(String) })
    await age(erasure.erasure_id)
    await complete(erasure.erasure_id)
    expect((await read()).step).toBe('complete')
    const { rows } = await it.postgres.query(
      'SELECT hem, cookie_ids FROM erasures WHERE erasure_id = $1',
      [erasure.erasure_id],
    )
    expect(rows).toEqual([{ hem: null, cookie_ids: [] }])
    const { erasures } = await it.done(it.key, 'GET /api/v1/privacy/erasures')
    expect(erasures.map(({ erasure_id }: { erasure_id: string }) => erasure_id)).toContain(
      erasure.erasure_id,
    )
  })

  test('without an opt-out: what they do next is taken in', async () => {
    const { hem, cookie } = await it.meet()
    await it.done(it.key, `DELETE ${path}`, { hem, opt_out: false })
    await it.shown(it.key, cookie, [])
    await waitFor(
      'the link to go',
      async () => (await rowsOf(it.demo.organization_id, cookie))[2] === 0,
    )
    await gone(it.demo.organization_id, cookie)
    expect(await it.visit(it.demo.pixel_id, cookie, { hem })).toBe(1)
  })

  test('everywhere by an address that only a profile names: the profile', async () => {
    const [work, home] = [`${randomUUID()}@work.example`, `${randomUUID()}@home.example`]
    await it.clickhouse.command({
      sql: 'INSERT INTO profiles (hem, personal_email) VALUES ({hem:String}, {home:String})',
      params: { hem: hemOf(work), home },
    })
    await reloadIdentity(it.clickhouse)
    const profiles = () => it.countOf('profiles', 'hem = {hem:String}', { hem: hemOf(work) })
    expect(await profiles()).toBe(1)
    await requestErasure(it.postgres, null, { hem: hemOf(home) })
    await waitFor('the profile to go', async () => (await profiles()) === 0, 20_000)
  })

  test('everywhere, as the operator asks: every organization’s, and the profile', async () => {
    const { hem, cookie } = await it.meet()
    await it.clickhouse.command({
      sql: `INSERT INTO profiles (hem, first_name) VALUES ({hem:String}, 'Ada')`,
      params: { hem },
    })
    const profiles = () =>
      Promise.all([
        it.countOf('profiles', 'hem = {hem:String}', { hem }),
        it.countOf('profile_rows', 'hem_number = reinterpretAsUInt256(unhex({hem:String}))', {
          hem,
        }),
      ])
    expect(await profiles()).toEqual([1, 1])
    const { erasure_id } = await requestErasure(it.postgres, null, { hem })
    for (const organization of [it.demo.organization_id, it.stranger.organization])
      await gone(organization, cookie)
    await waitFor('the profile to go', async () => (await profiles()).join() === '0,0', 20_000)
    await age(erasure_id)
    await waitFor(
      'its end',
      async () => {
        await runAgain()
        return (await readErasure(it.postgres, erasure_id))?.completed_at
      },
      30_000,
    )
  })
})

test('a browser is erased by its cookie; the person’s other browsers stay', async () => {
  const { hem, cookie } = await it.meet()
  const other = crypto.randomUUID()
  expect(await it.visit(it.demo.pixel_id, other, { hem })).toBe(1)
  await it.shown(it.key, other, [hem])
  await it.done(it.key, `DELETE ${path}`, { cookie_id: cookie })
  await gone(it.demo.organization_id, cookie)
  expect(await it.hemsOf(it.key, other)).toEqual([hem])
})

describe('the export', () => {
  test('has every link, event and rejected event of the organization’s sites, and nothing of others’', async () => {
    const { email, hem, cookie } = await it.meet()
    const bad = customEvent({}, { event_type: 'nonsense' })
    await postBeacon(it.url, beaconOf(it.service, [bad], { cookie_id: cookie }))
    await waitFor(
      'the rows',
      async () => (await rowsOf(it.demo.organization_id, cookie)).join() === '1,1,1',
    )
    for (const asked of [
      `email=${encodeURIComponent(email)}`,
      `hem=${hem}`,
      `cookie_id=${cookie}`,
    ]) {
      const answer = await fetch(`${it.url}${path}?${asked}`, { headers: it.key })
      expect(answer.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
      const lines = (await answer.text()).trimEnd().split('\n')
      const parts = lines.map((line) => JSON.parse(line))
      expect(parts.map(({ kind }) => kind)).toEqual(['link', 'event', 'rejected_event'])
      const [link, event, rejected] = parts.map(({ data }) => data)
      expect(link).toMatchObject({
        cookie_id: cookie,
        hem,
        source: 'identify',
        pixel_id: it.demo.pixel_id,
      })
      expect(event).toMatchObject({
        cookie_id: cookie,
        event_type: 'custom',
        pixel_id: it.demo.pixel_id,
      })
      expect(rejected).toMatchObject({ event_type: 'nonsense', pixel_id: it.demo.pixel_id })
    }
  })

  test('has the lists that the person and their browsers are in, and no list of others', async () => {
    const { hem, cookie } = await it.meet()
    const project_id = it.demo.project_id
    const listOf = async (key: Parameters<typeof it.done>[0], body: object) => {
      const made = await it.done(key, 'POST /api/v1/lists', { name: 'Guests', ...body })
      const path = `GET /api/v1/lists/${made.list.id}/imports/${made.import.id}`
      await waitFor(
        'the import',
        async () => (await it.done(key, path)).import.status === 'completed',
        50_000,
      )
      return { list_id: made.list.id, import_id: made.import.id }
    }
    const others = { project_id: it.stranger.project, kind: 'hems', items: [hem] }
    await listOf(it.stranger.key, others)
    const browser = await listOf(it.key, { project_id, kind: 'cookies', items: [cookie] })
    const person = await listOf(it.key, { project_id, kind: 'hems', items: [hem, 'a'.repeat(64)] })
    await listOf(it.key, { project_id, kind: 'hems', items: ['a'.repeat(64)] })
    const listsOf = async (asked: string) => {
      const answer = await fetch(`${it.url}${path}?${asked}`, { headers: it.key })
      const lines = (await answer.text()).trimEnd().split('\n')
      return lines.map((line) => JSON.parse(line)).filter(({ kind }) => kind === 'list_member')
    }
    const told = (kind: string, ids: object) => ({
      kind: 'list_member',
      data: { ...ids, project_id, name: 'Guests', kind, added_at: expect.any(String) },
    })
    expect(await listsOf(`hem=${hem}`)).toEqual([told('cookies', browser), told('hems', person)])
    expect(await listsOf(`cookie_id=${cookie}`)).toEqual([told('cookies', browser)])
  })

  test('of nobody is empty', async () => {
    const answer = await fetch(`${it.url}${path}?cookie_id=${crypto.randomUUID()}`, {
      headers: it.key,
    })
    expect([answer.status, await answer.text()]).toEqual([200, ''])
  })
})

test('erasures of others, and none, are not found', async () => {
  const { erasure } = await it.done(it.stranger.key, `DELETE ${path}`, {
    cookie_id: crypto.randomUUID(),
  })
  for (const id of [erasure.erasure_id, crypto.randomUUID()]) {
    const answer = await it.ask(it.key, `GET /api/v1/privacy/erasures/${id}`)
    expect([answer.status, answer.body.error]).toEqual([404, 'erasure not found'])
  }
})
