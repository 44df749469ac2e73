/** Free numbers are exact: a sample and a build count the records that reading all members then charges. */
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { audienceQueues } from '../../../collector/audiences/audienceJobs.ts'
import { requestErasure } from '../../../collector/identity/privacy/erasures.ts'
import { addOptOut, syncToClickHouse } from '../../../collector/identity/privacy/optOuts.ts'
import { reloadIdentity } from '../../../collector/identity/store/refresh.ts'
import { hemOf } from '../../../collector/platform/hem.ts'
import { organizationId, projectId } from '../events/harness.ts'
import { goOn, hemOf as hemOfHistory, newHistory } from './histories.ts'
import { openIntent, topics } from './intent/harness.ts'
import { importInto } from './lists/harness.ts'
import { definitionOf, type Node } from './randomDefinitions.ts'

const definitions = Number(process.env.FREE_NUMBERS_RUNS ?? 12)
const clock = { now: Date.now() }
let it: Awaited<ReturnType<typeof openIntent>>
beforeAll(async () => {
  it = await openIntent({ now: () => clock.now })
})
afterAll(() => it.close())

const insert = (table: string, rows: readonly object[]) =>
  it.clickhouse.live.insertLines(
    table,
    Readable.from([rows.map((row) => `${JSON.stringify(row)}\n`).join('')], { objectMode: false }),
    randomUUID(),
  )

interface Owner {
  organizationId: string
  projectId: string
}
const ours: Owner = { organizationId, projectId }

async function ask({ organizationId, projectId }: Owner, path: string, payload?: object) {
  const answer = await it.app.inject({
    method: payload ? 'POST' : 'GET',
    url: `/api/v1/audiences${path}`,
    headers: { 'x-organization': organizationId, 'x-project-id': projectId },
    ...(payload && { payload }),
  })
  return { status: answer.statusCode, body: answer.json() }
}

/** Reads all records of an audience, page by page, and returns what they charged. */
async function chargeOfAll(owner: Owner, audienceId: string): Promise<number> {
  let charged = 0
  for (let cursor = ''; ; ) {
    const { body } = await ask(owner, `/${audienceId}/records?page_size=5${cursor}`)
    charged += body.meta.charged
    if (!body.next_cursor) return charged
    cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`
  }
}

test(`${definitions} random definitions: estimate = count of the build = records that reading all of them charges`, async () => {
  const seed = Number(process.env.FREE_NUMBERS_SEED ?? 1)
  const history = newHistory(seed, false)
  const { random, world } = history
  const owner = { organizationId: world.organizationId, projectId: history.projectId }
  await it.postgres.query("INSERT INTO organizations (organization_id, name) VALUES ($1, 'R')", [
    owner.organizationId,
  ])
  await it.postgres.query(
    "INSERT INTO projects (project_id, organization_id, name) VALUES ($1, $2, 'R')",
    [owner.projectId, owner.organizationId],
  )
  for (let step = 0; step < 25; step++)
    for (const [table, rows] of Object.entries(goOn(history))) await insert(table, rows)
  await it.signal(
    Array.from({ length: 60 }, () => ({
      topic: random.pick(topics),
      email: `person-${seed * 1_000 + random.integer(1, 12)}@known.example`,
      daysAgo: random.integer(0, 60),
      score: random.integer(0, 100),
      source: 'one',
    })),
  )
  await reloadIdentity(it.clickhouse.live)
  const lists = importInto(it, owner.projectId)
  const listed = Array.from({ length: 8 }, () => hemOfHistory(history))
  const { listId } = await lists.importFile(`${listed.join('\n')}\n`, { kind: 'hems' })
  lists.removeFiles()
  const made: { id: string; definition: Node }[] = []
  const counts: number[] = []
  for (let n = 0; n < definitions; n++) {
    const entity = random.pick(['people', 'people', 'people', 'companies'])
    const used = made.filter(({ definition }) => definition.entity === entity).map(({ id }) => id)
    const { include, ...rest } = definitionOf(random, used)
    const further = random.pick([
      { list: { list_id: listId } },
      { intent: { topics: [random.pick(topics)], min_score: random.integer(0, 60) } },
    ])
    const definition = {
      entity,
      include: random.chance(0.3)
        ? random.pick([{ all: [include, further] }, { any: [include, further] }])
        : include,
      ...rest,
      ...(random.chance(0.2) && { limit: random.integer(1, 10) }),
    }
    const { body: sample } = await ask(owner, '/sample', { definition })
    const id = await it.create(definition, 'Random', owner.projectId)
    await it.build(id, clock.now)
    made.push({ id, definition })
    const { body } = await ask(owner, `/${id}`)
    const { body: listing } = await ask(owner, `/${id}/builds`)
    const { count } = sample.estimate
    const charged = entity === 'people' ? await chargeOfAll(owner, id) : count
    expect(
      {
        sample: sample.records_to_charge,
        audience: body.audience.count,
        build: listing.builds[0].count,
        charged,
      },
      JSON.stringify(definition),
    ).toEqual({ sample: count, audience: count, build: count, charged: count })
    counts.push(count)
  }
  expect(counts.filter((count) => count > 0).length).toBeGreaterThan(definitions / 3)
}, 3_600_000)

const domain = `${randomUUID()}.example`
const staff = {
  entity: 'people',
  include: { profile: { field: 'company_domain', op: 'eq', value: domain } },
}
const personNumbered = (n: number) => hemOf(`${n}@${domain}`)

test('numbers and rows leave out people who opted out of the organization or are being erased', async () => {
  const people = Array.from({ length: 5 }, (_, n) => ({
    hem: personNumbered(n),
    company_domain: domain,
    job_title: `Potter ${n}`,
  }))
  await insert('profiles', people)
  await reloadIdentity(it.clickhouse.live)
  const count = async () => {
    const { body } = await ask(ours, '/sample', { definition: staff })
    const id = await it.create(staff)
    await it.build(id, clock.now)
    const { audience } = (await ask(ours, `/${id}`)).body
    expect([audience.count, body.sample.length]).toEqual([body.estimate.count, body.estimate.count])
    expect(await chargeOfAll(ours, id)).toBe(audience.count)
    return { count: audience.count, text: JSON.stringify(body.sample) }
  }
  expect((await count()).count).toBe(5)
  await addOptOut(it.postgres, organizationId, { hem: personNumbered(1) })
  await syncToClickHouse(it.postgres, it.clickhouse.live)
  await requestErasure(it.postgres, organizationId, { hem: personNumbered(2) })
  const after = await count()
  expect(after.count).toBe(3)
  expect(after.text).not.toMatch(/Potter [12]/)
})

test('without free answers a build completes; its numbers are null until a charged read', async () => {
  await it.postgres.query(
    `INSERT INTO billing_accounts (organization_id, free_answers_per_day) VALUES ($1, 0)
     ON CONFLICT (organization_id) DO UPDATE SET free_answers_per_day = 0`,
    [organizationId],
  )
  const definition = { ...staff, limit: 2 }
  expect(await ask(ours, '/sample', { definition })).toMatchObject({
    status: 429,
    body: { error: 'platform_cap_exceeded', kind: 'limit_reached', meter: 'free_answers' },
  })
  const id = await it.create(definition)
  const { rows } = await it.postgres.query<{ build_id: string }>(
    'SELECT build_id FROM audience_builds WHERE audience_id = $1',
    [id],
  )
  const { postgres, clickhouse, allowance } = it
  await audienceQueues({ postgres, clickhouse, allowance, log: { warn: () => {} } })
    .find(({ name }) => name === 'audiences.build')!
    .run({
      key: rows[0]!.build_id,
      isLastTry: true,
      signal: new AbortController().signal,
      send: async () => {},
    })
  const numbers = async () => {
    const { audience } = (await ask(ours, `/${id}`)).body
    const { builds } = (await ask(ours, `/${id}/builds`)).body
    return [audience.status, audience.count, audience.bucket_counts.low, builds[0].count]
  }
  expect(await numbers()).toEqual(['completed', null, null, null])
  const sent = await postgres.query(
    "SELECT data -> 'count' AS count FROM outbox_messages WHERE data ->> 'audience_id' = $1",
    [id],
  )
  expect(sent.rows).toEqual([{ count: null }])
  await chargeOfAll(ours, id)
  expect(await numbers()).toEqual(['completed', 2, 0, 2])
})
