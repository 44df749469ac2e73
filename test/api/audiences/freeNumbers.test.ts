/**
 * Free numbers are exact: a sample, a build and an import count the records that the reads then charge.
 * `FREE_NUMBERS_RUNS` and `FREE_NUMBERS_SEED` set the number of random definitions and their seed.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { audienceQueues, takeFreeNumbers } from '../../../collector/audiences/audienceJobs.ts'
import { requestBuild } from '../../../collector/audiences/builds.ts'
import { writeFile } from '../../../collector/audiences/files/writeFile.ts'
import { carryOutErasures, requestErasure } from '../../../collector/identity/privacy/erasures.ts'
import {
  addOptOut,
  removeOptOut,
  syncToClickHouse,
} from '../../../collector/identity/privacy/optOuts.ts'
import { reloadIdentity } from '../../../collector/identity/store/refresh.ts'
import { hemOf } from '../../../collector/platform/hem.ts'
import { inTransaction } from '../../../collector/platform/postgres/transaction.ts'
import { jobOf } from '../../harness/job.ts'
import { storeOrganization, storeProject } from '../../harness/owners.ts'
import { insertRows } from '../../harness/rows.ts'
import { eventOf, linkOf, organizationId, projectId } from '../events/harness.ts'
import { goOn, hemOf as hemOfHistory, newHistory } from './histories.ts'
import { openIntent, topics } from './intent/harness.ts'
import { importInto } from './lists/harness.ts'
import { definitionOf } from './randomDefinitions.ts'

const definitions = Number(process.env.FREE_NUMBERS_RUNS ?? 10)
const clock = { now: Date.now() }
let it: Awaited<ReturnType<typeof openIntent>>
beforeAll(async () => {
  it = await openIntent({ now: () => clock.now })
})
afterAll(() => it.close())

const insert = (table: string, rows: readonly object[]) =>
  insertRows(it.clickhouse.live, table, rows)

interface Owner {
  organizationId: string
  projectId: string
}
const ours: Owner = { organizationId, projectId }

async function ask({ organizationId, projectId }: Owner, path: string, payload?: object) {
  const answer = await it.app.inject({
    method: payload ? 'POST' : 'GET',
    url: `/api/v1/${path}`,
    headers: { 'x-organization': organizationId, 'x-project-id': projectId },
    ...(payload && { payload }),
  })
  return { status: answer.statusCode, body: answer.json() }
}

/** Reads all records of an audience, page by page. Returns the charge, the number of rows and the total in the answers. */
async function readAll(owner: Owner, audienceId: string) {
  const read = { charged: 0, rows: 0, total: 0 }
  for (let cursor = ''; ; ) {
    const { body } = await ask(owner, `audiences/${audienceId}/records?page_size=5${cursor}`)
    read.charged += body.meta.charged
    read.rows += body.results.length
    read.total = body.count
    if (!body.next_cursor) return read
    cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`
  }
}

/** Downloads an audience whose file is written in between. Returns the charge. */
async function chargeOfDownload(owner: Owner, audienceId: string): Promise<number> {
  const path = `audiences/${audienceId}/download?format=ndjson`
  const { body: begun } = await ask(owner, path)
  const { rows } = await it.postgres.query<{ file_id: string }>(
    'SELECT file_id FROM audience_files WHERE build_id = $1',
    [begun.build_id],
  )
  const { postgres, clickhouse, files } = it
  const { signal } = new AbortController()
  await writeFile({ postgres, clickhouse, ...files }, rows[0]!.file_id, signal)
  const { body } = await ask(owner, path)
  expect([body.status, body.meta.charged]).toEqual(['ready', body.count])
  return body.charged
}

/** The numbers of an audience, of its served build and of its list of builds. */
async function numbersOf(owner: Owner, audienceId: string) {
  const { audience } = (await ask(owner, `audiences/${audienceId}`)).body
  const { builds } = (await ask(owner, `audiences/${audienceId}/builds?limit=1`)).body
  const { low, medium, high } = audience.bucket_counts
  return { count: audience.count, build: builds[0].count, interested: low + medium + high }
}

/** Opts a person out of the organization, or back in. */
async function setOptOut({ organizationId }: Owner, hem: string, isOut: boolean): Promise<void> {
  const change = isOut ? addOptOut : removeOptOut
  await change(it.postgres, organizationId, { hem })
  await syncToClickHouse(it.postgres, it.clickhouse.live)
}

test(`${definitions} random definitions, lists and audiences: each number = records that the live reads charge`, async () => {
  const seed = Number(process.env.FREE_NUMBERS_SEED ?? 1)
  const history = newHistory(seed, false)
  const { random, world } = history
  const owner = { organizationId: world.organizationId, projectId: history.projectId }
  await storeOrganization(it.postgres, owner.organizationId, 'R')
  await storeProject(it.postgres, owner.projectId, owner.organizationId, 'R')
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
  const imported = importInto(it, owner.projectId)
  const lists: string[] = []
  /** Imports a list of known, unknown and repeated people; a batch of lookups charges its matches. */
  const importList = async () => {
    const hems = Array.from({ length: random.integer(1, 12) }, () =>
      random.chance(0.8) ? hemOfHistory(history) : hemOf(random.uuid()),
    )
    const { listId, counts } = await imported.importFile(`${hems.join('\n')}\n`, { kind: 'hems' })
    const items = [...new Set(hems)].map((hem, id) => ({ id: String(id), hem }))
    const { body } = await ask(owner, 'lookup/batch', { items })
    expect({ hems, matched: counts.matched }).toEqual({ hems, matched: body.meta.charged })
    lists.push(listId)
  }
  const made: { id: string; entity: string }[] = []
  const counts: number[] = []
  for (let n = 0; n < definitions; n++) {
    if (n % 10 === 0) await importList()
    const entity = random.pick(['people', 'people', 'people', 'companies'])
    const used = made.filter((one) => one.entity === entity).map(({ id }) => id)
    const { include, ...rest } = definitionOf(random, used)
    const further = random.pick([
      { list: { list_id: random.pick(lists) } },
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
    const { body: sample } = await ask(owner, 'audiences/sample', { definition })
    const id = await it.create(definition, 'Random', owner.projectId)
    await it.build(id, clock.now)
    made.push({ id, entity })
    const { count } = sample.estimate
    const shown = await numbersOf(owner, id)
    const isPaged = entity === 'people' && random.chance(0.8)
    const read = isPaged ? await readAll(owner, id) : null
    const charged = read ? read.charged : await chargeOfDownload(owner, id)
    expect(
      { sample: sample.records_to_charge, ...shown, charged, total: read?.total ?? count },
      JSON.stringify(definition),
    ).toEqual({
      sample: count,
      count,
      build: count,
      interested: expect.any(Number),
      charged,
      total: count,
    })
    expect(charged, JSON.stringify(definition)).toBe(count)
    expect(shown.interested).toBeLessThanOrEqual(count)
    counts.push(count)
    if (n % 10 !== 9) continue
    // Earlier builds, while a person is opted out and after: numbers and rows stay equal.
    const hem = hemOfHistory(history)
    for (const isOut of [true, false]) {
      await setOptOut(owner, hem, isOut)
      for (const one of [id, random.pick(made.filter(({ entity }) => entity === 'people')).id]) {
        if (made.find((each) => each.id === one)!.entity !== 'people') continue
        const { count, build } = await numbersOf(owner, one)
        const { rows, total } = await readAll(owner, one)
        expect({ isOut, count, build, total }).toEqual({
          isOut,
          count: rows,
          build: rows,
          total: rows,
        })
      }
    }
  }
  imported.removeFiles()
  expect(counts.filter((count) => count > 0).length).toBeGreaterThan(definitions / 3)
}, 7_200_000)

const domain = `${randomUUID()}.example`
const staff = {
  entity: 'people',
  include: {
    any: [
      { profile: { field: 'company_domain', op: 'eq', value: domain } },
      { intent: { topics: [topics[0]], min_score: 99 } },
    ],
  },
}
const address = (n: number) => `${n}@${domain}`
const personNumbered = (n: number) => hemOf(address(n))

test('numbers of new and earlier builds leave out people who opted out, are being erased or were erased', async () => {
  const people = Array.from({ length: 5 }, (_, n) => ({
    hem: personNumbered(n),
    company_domain: domain,
    job_title: `Potter ${n}`,
  }))
  await insert('profiles', people)
  await it.signal(
    people.map((_, n) => ({
      topic: topics[0]!,
      email: address(n),
      daysAgo: 1,
      score: 50,
      source: 'one',
    })),
  )
  await reloadIdentity(it.clickhouse.live)
  const earlier = await it.create(staff)
  await it.build(earlier, clock.now)
  const requireCount = async (count: number) => {
    const { body } = await ask(ours, 'audiences/sample', { definition: staff })
    expect([body.sample.length, body.estimate.count]).toEqual([count, count])
    const id = await it.create(staff)
    await it.build(id, clock.now)
    for (const one of [id, earlier]) {
      expect(await numbersOf(ours, one)).toEqual({ count, build: count, interested: count })
      const { rows, total } = await readAll(ours, one)
      expect([rows, total]).toEqual([count, count])
    }
    const { audiences } = (await ask(ours, 'audiences')).body
    const listed = audiences.find((audience: { id: string }) => audience.id === earlier)
    expect(listed.count).toBe(count)
    return JSON.stringify(body.sample)
  }
  await requireCount(5)
  await setOptOut(ours, personNumbered(1), true)
  await requireCount(4)
  await requestErasure(it.postgres, organizationId, { hem: personNumbered(2) })
  expect(await requireCount(3)).not.toMatch(/Potter [12]/)
  const stores = { postgres: it.postgres, clickhouse: it.clickhouse.live }
  await carryOutErasures(stores)
  await requireCount(3)
  await setOptOut(ours, personNumbered(1), false)
})

test('a sample and an explanation count an event once for two leaves that differ in minimum and days', async () => {
  const [cookie_id, hem] = [randomUUID(), hemOf(randomUUID())]
  await it.insert([1, 2].map((n) => eventOf(clock.now, n * 60_000, { cookie_id })))
  await it.know({ links: [linkOf(cookie_id, hem)] })
  const visits = (at_least: number, within_days: number) => ({
    event: { event_type: 'page_view', filter: 'resolved:eq:true', at_least, within_days },
  })
  const definition = { entity: 'people', include: { all: [visits(1, 3), visits(3, 2)] } }
  const { body: sample } = await ask(ours, 'audiences/sample', { definition })
  const id = await it.create(definition)
  await it.build(id, clock.now)
  expect([sample.estimate.count, (await numbersOf(ours, id)).count]).toEqual([0, 0])
  const { body } = await ask(ours, `audiences/${id}/explain?hem=${hem}`)
  expect(body.leaves.map((leaf: { events: number }) => leaf.events)).toEqual([2, 2])
})

test('a question over a list or audience that changed is another one: sample, build, preview and dry run', async () => {
  const imported = importInto(it, projectId)
  const addresses = [0, 1, 2].map(() => `${randomUUID()}@known.example`)
  const { listId } = await imported.importFile(`${addresses.join('\n')}\n`)
  imported.removeFiles()
  const ofList = { entity: 'people', include: { list: { list_id: listId } } }
  const audienceId = await it.create(ofList)
  await it.build(audienceId, clock.now)
  const ofAudience = { entity: 'people', include: { audience: { audience_id: audienceId } } }
  const usingList = await it.create(ofList)
  const people = { topic: topics[0], audience_id: audienceId }
  const questions = {
    sampleOfList: () => ask(ours, 'audiences/sample', { definition: ofList }),
    build: async () => {
      const buildId = await requestBuild(it.postgres, usingList)
      await inTransaction(it.postgres, (client) => takeFreeNumbers(client, it.allowance, buildId))
    },
    sampleOfAudience: () => ask(ours, 'audiences/sample', { definition: ofAudience }),
    preview: () => ask(ours, 'intent/people/preview', people),
    dryRun: () => ask(ours, 'intent/people', { ...people, dry_run: true }),
  }
  /** How many free answers each question takes. */
  const taken = async () => {
    const counts: Record<string, number> = {}
    for (const [name, question] of Object.entries(questions)) {
      const { left } = await it.allowance.read(organizationId)
      await question()
      counts[name] = left - (await it.allowance.read(organizationId)).left
    }
    return counts
  }
  const none = { sampleOfList: 0, build: 0, sampleOfAudience: 0, preview: 0, dryRun: 0 }
  const ofAudiences = { sampleOfAudience: 1, preview: 1, dryRun: 1 }
  expect(await taken()).toEqual({ sampleOfList: 1, build: 1, ...ofAudiences })
  expect(await taken()).toEqual(none)
  const removed = await it.app.inject({
    method: 'DELETE',
    url: `/api/v1/lists/${listId}/items`,
    headers: { 'x-project-id': projectId },
    payload: { items: [addresses[0]] },
  })
  expect(removed.statusCode).toBe(200)
  expect(await taken()).toEqual({ ...none, sampleOfList: 1, build: 1 })
  await it.build(audienceId, clock.now)
  expect(await taken()).toEqual({ ...none, ...ofAudiences })
})

test('without free answers a build completes; its numbers are null until a charged read', async () => {
  await it.postgres.query(
    `INSERT INTO billing_accounts (organization_id, free_answers_per_day) VALUES ($1, 0)
     ON CONFLICT (organization_id) DO UPDATE SET free_answers_per_day = 0`,
    [organizationId],
  )
  const definition = { ...staff, limit: 2 }
  expect(await ask(ours, 'audiences/sample', { definition })).toMatchObject({
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
    .run(jobOf(rows[0]!.build_id, true))
  const numbers = async () => {
    const { audience } = (await ask(ours, `audiences/${id}`)).body
    const { builds } = (await ask(ours, `audiences/${id}/builds`)).body
    return [audience.status, audience.count, audience.bucket_counts.low, builds[0].count]
  }
  expect(await numbers()).toEqual(['completed', null, null, null])
  const sent = await postgres.query(
    "SELECT data -> 'count' AS count FROM outbox_messages WHERE data ->> 'audience_id' = $1",
    [id],
  )
  expect(sent.rows).toEqual([{ count: null }])
  await readAll(ours, id)
  expect(await numbers()).toEqual(['completed', 2, 2, 2])
})
