import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  addOptOut,
  removeOptOut,
  syncToClickHouse,
} from '../../../collector/identity/privacy/optOuts.ts'
import { organizationId, projectId } from '../events/harness.ts'
import { openAudiences } from './harness.ts'

/*
 * Metering rule 8: a record of a build is charged once on a UTC day, to the record, whatever becomes of the requests.
 */

const dayMs = 86_400_000
const noon = Date.UTC(2026, 0, 15, 12)
const clock = { now: noon }
const it = await openAudiences({ now: () => clock.now })
let url: string
afterAll(() => it.close())

const people = 230
beforeAll(async () => {
  const profiles = Array.from({ length: people }, (_, n) => ({
    hem: ((n + 1) * 2_654_435_761).toString(16).padStart(64, '0'),
    job_title: 'Potter',
  }))
  await it.know({ profiles })
  url = await it.app.listen({ port: 0, host: '127.0.0.1' })
})

let audienceId: string
let before: number
beforeEach(async () => {
  clock.now += 2 * dayMs
  audienceId = await it.create({
    entity: 'people',
    include: { profile: { field: 'job_title', op: 'eq', value: 'Potter' } },
  })
  await it.build(audienceId)
  before = await charged()
})

const charged = async () => {
  const { rows } = await it.postgres.query<{ records: number }>(
    "SELECT coalesce(sum(records), 0)::int AS records FROM ledger WHERE meter = 'audience'",
  )
  const wrong = await it.postgres.query('SELECT * FROM ledger_differences')
  expect(wrong.rows).toEqual([])
  return rows[0]!.records
}
const gained = async () => (await charged()) - before

async function ask(query: Record<string, string>, init: RequestInit = {}) {
  const address = `${url}/api/v1/audiences/${audienceId}/records?${new URLSearchParams({ project_id: projectId, ...query })}`
  const answer = await fetch(address, init)
  expect(answer.status).toBe(200)
  const body = (await answer.json()) as { next_cursor?: string }
  return { body, charged: Number(answer.headers.get('x-footfall-charged')) }
}

const currentBuild = async () => {
  const { rows } = await it.postgres.query<{ current_build_id: string }>(
    'SELECT current_build_id FROM audiences WHERE audience_id = $1',
    [audienceId],
  )
  return rows[0]!.current_build_id
}

/** Pages through everything; what each page cost. */
async function readAll(size: number): Promise<number[]> {
  const costs: number[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await ask({ page_size: String(size), ...(cursor && { cursor }) })
    costs.push(page.charged)
    cursor = page.body.next_cursor
    if (cursor === undefined) return costs
  }
}

test('each record once a day, whatever the size of the pages', async () => {
  expect(await readAll(100)).toEqual([100, 100, 30])
  expect(await readAll(100)).toEqual([0, 0, 0])
  expect(await readAll(37)).toEqual([0, 0, 0, 0, 0, 0, 0])
  expect(await gained()).toBe(people)
})

test('pages that lie across others are charged for what is new', async () => {
  await ask({ page_size: '100' })
  expect((await ask({ page_size: '150' })).charged).toBe(50)
  expect((await ask({ page_size: '20' })).charged).toBe(0)
  expect(await gained()).toBe(150)
})

test('a person who was hidden when a page was read is charged when they are shown', async () => {
  const [hem] = await it.membersOf(await currentBuild())
  await addOptOut(it.postgres, organizationId, { hem: hem! })
  await syncToClickHouse(it.postgres, it.clickhouse.live)
  expect(await readAll(100)).toEqual([100, 100, 29])
  await removeOptOut(it.postgres, organizationId, { hem: hem! })
  await syncToClickHouse(it.postgres, it.clickhouse.live)
  expect(await readAll(100)).toEqual([1, 0, 0])
  expect(await gained()).toBe(people)
})

test('after midnight UTC a record is charged again', async () => {
  await readAll(100)
  clock.now = Math.ceil(clock.now / dayMs) * dayMs - 1
  expect(await readAll(200)).toEqual([0, 0])
  clock.now += 1
  expect(await readAll(100)).toEqual([100, 100, 30])
  expect(await gained()).toBe(2 * people)
})

test('an Idempotency-Key keeps a page free over midnight', async () => {
  const headers = { 'idempotency-key': randomUUID() }
  expect((await ask({ page_size: '50' }, { headers })).charged).toBe(50)
  clock.now = Math.ceil(clock.now / dayMs) * dayMs
  expect((await ask({ page_size: '50' }, { headers })).charged).toBe(0)
  expect((await ask({ page_size: '60' })).charged).toBe(10)
})

test('readers side by side pay once together', async () => {
  await Promise.all([readAll(23), readAll(100), readAll(41), readAll(23)])
  expect(await gained()).toBe(people)
})

test('whoever breaks off and comes again pays for each record once', async () => {
  for (let round = 0; round < 12; round++) {
    const controller = new AbortController()
    const asked = ask(
      { page_size: String(1 + ((round * 97) % people)) },
      { signal: controller.signal },
    ).catch(() => {})
    setTimeout(() => controller.abort(), (round * 11) % 60)
    await asked
  }
  await readAll(64)
  await expect.poll(gained, { timeout: 20_000 }).toBe(people)
})

test('a test key pays nothing', async () => {
  const answer = await it.app.inject({
    url: `/api/v1/audiences/${audienceId}/records`,
    query: { project_id: projectId },
    headers: { 'x-test-mode': 'test' },
  })
  expect(answer.headers['x-footfall-charged']).toBe('0')
  expect(await gained()).toBe(0)
})

test('who may have nothing more reads again what was paid for', async () => {
  await readAll(100)
  const { rows } = await it.postgres.query<{ organization_id: string }>(
    'SELECT DISTINCT organization_id FROM ledger',
  )
  const [organizationId] = rows.map(({ organization_id }) => organization_id)
  const limit = (records: number | null) =>
    it.postgres.query(
      `INSERT INTO usage_limits VALUES ($1, 'audience', $2, NULL)
       ON CONFLICT (organization_id, meter) DO UPDATE SET daily_records = excluded.daily_records`,
      [organizationId, records],
    )
  await limit(people)
  expect(await readAll(100)).toEqual([0, 0, 0])
  await it.build(audienceId)
  expect(await readAll(100)).toEqual([0, 0, 0])
  clock.now += dayMs
  // Of a page, what is not paid yet must be covered; of the last one, what is left, not its size.
  expect((await ask({ page_size: '200' })).charged).toBe(200)
  await limit(people - 1)
  const { body } = await ask({ page_size: '200' })
  const last = { page_size: '1000', cursor: body.next_cursor! }
  const ofLast = () =>
    it.app.inject({
      url: `/api/v1/audiences/${audienceId}/records`,
      query: { project_id: projectId, ...last },
    })
  expect((await ofLast()).statusCode).toBe(429)
  await limit(people)
  expect((await ask(last)).charged).toBe(people - 200)
  expect((await ask(last)).charged).toBe(0)
  expect((await ask({ page_size: '1000' })).charged).toBe(0)
  clock.now += dayMs
  await limit(0)
  const refused = await it.app.inject({
    url: `/api/v1/audiences/${audienceId}/records`,
    query: { project_id: projectId },
  })
  expect([refused.statusCode, refused.json().kind]).toEqual([429, 'request_too_large'])
  await limit(null)
})

describe('a new build of the same audience on the same day', () => {
  /** People with a job of their own, `count` of them from the `from`th on, and the audience of that job. */
  const title = randomUUID()
  const know = (from: number, count: number, job_title: string | null = title) =>
    it.know({
      profiles: Array.from({ length: count }, (_, n) => ({
        hem: createHash('sha256')
          .update(`${title} ${from + n}`)
          .digest('hex'),
        job_title,
      })),
    })
  const next = async () => {
    await it.build(audienceId)
    return (await readAll(13)).reduce((sum, one) => sum + one, 0)
  }
  beforeEach(async () => {
    await know(0, 40)
    await know(40, 20, null)
    audienceId = await it.create({
      entity: 'people',
      include: { profile: { field: 'job_title', op: 'eq', value: title } },
    })
    expect(await next()).toBe(40)
  })

  test('charges nothing for whom it was charged already, wherever they lie now', async () => {
    expect(await next()).toBe(0)
    await know(40, 5)
    expect(await next()).toBe(5)
    await know(0, 10, null)
    expect(await next()).toBe(0)
    await know(0, 10)
    expect(await next()).toBe(0)
    clock.now += dayMs
    expect(await next()).toBe(45)
    expect(await gained()).toBe(90)
  })

  test('is charged once by readers side by side, of both builds', async () => {
    await know(40, 9)
    await it.build(audienceId)
    await Promise.all([readAll(7), readAll(11), readAll(40)])
    expect(await gained()).toBe(49)
  })
})

test('an edit that cannot change who is in it starts no build', async () => {
  const builds = async () => {
    const { rows } = await it.postgres.query(
      'SELECT build_id FROM audience_builds WHERE audience_id = $1',
      [audienceId],
    )
    return rows.length
  }
  const edit = async (payload: object) => {
    const answer = await it.app.inject({
      method: 'PATCH',
      url: `/api/v1/audiences/${audienceId}`,
      query: { project_id: projectId },
      payload,
    })
    expect(answer.statusCode).toBe(200)
  }
  const include = { profile: { value: 'Potter', op: 'eq', field: 'job_title' } }
  await edit({ name: 'Another name' })
  await edit({ intent_window_days: 7 })
  await edit({ definition: { include, entity: 'people' } })
  expect(await builds()).toBe(1)
  await edit({ definition: { include: { not: { not: include } }, entity: 'people', limit: 3 } })
  expect(await builds()).toBe(2)
})
