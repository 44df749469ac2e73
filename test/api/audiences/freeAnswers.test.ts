/** The rule of query/freeAnswers.ts as a property: no free answer changes with one of the people whom a caller chose. */
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { countOwnEvents } from '../../../collector/audiences/signals/ownEvents/countOwnEvents.ts'
import { requestErasure } from '../../../collector/identity/privacy/erasures.ts'
import { reloadIdentity } from '../../../collector/identity/store/refresh.ts'
import { hemOf } from '../../../collector/platform/hem.ts'
import { eventOf, linkOf, organizationId, projectId } from '../events/harness.ts'
import { openIntent } from './intent/harness.ts'
import { importInto } from './lists/harness.ts'

const runs = Number(process.env.FREE_ANSWERS_RUNS ?? 12)
const path = '/invented'
const topic = 'golf'
/** The last two are prospects; of the others the caller knows everything. */
const addresses = Array.from({ length: 26 }, (_, n) => `prospect${n}@chosen.example`)
const hems = addresses.map(hemOf)
const titles = ['Potter', 'CEO'] as const

let intent: Awaited<ReturnType<typeof openIntent>>
let lists: ReturnType<typeof importInto>
let listId: string

beforeAll(async () => {
  intent = await openIntent()
  lists = importInto(intent, projectId)
  listId = (await lists.importFile(`${hems.join('\n')}\n`, { kind: 'hems' })).listId
  const cookies = hems.map(() => randomUUID())
  await intent.know({ links: hems.map((hem, n) => linkOf(cookies[n]!, hem)) })
  await intent.insert(
    cookies.map((cookie_id) =>
      eventOf(Date.now(), 60_000, {
        cookie_id,
        page_url: `https://shop.example${path}`,
        page_path: path,
      }),
    ),
  )
})
afterAll(async () => {
  lists.removeFiles()
  await intent.close()
})

/** Data of the two prospects: billed, and different in each run. */
interface World {
  title: (typeof titles)[number]
  birthYear: number
  /** Whether both addresses are one person's. */
  isOnePerson: boolean
  score: number | null
}
const worlds: fc.Arbitrary<World> = fc.record({
  title: fc.constantFrom(...titles),
  birthYear: fc.integer({ min: 1950, max: 2000 }),
  isOnePerson: fc.boolean(),
  score: fc.option(fc.integer({ min: 0, max: 100 })),
})

let version = Date.UTC(2026, 0, 1)
async function make({ title, birthYear, isOnePerson, score }: World): Promise<void> {
  version += 1_000
  await intent.know({
    profiles: hems.map((hem, n) => ({
      hem,
      first_name: `Prospect ${n}`,
      company_domain: 'chosen.example',
      pte_person_id: isOnePerson && n === 25 ? 'person 24' : `person ${n}`,
      job_title: n >= 24 ? title : 'Potter',
      birth_year: n >= 24 ? birthYear : 1980,
      updated_at: new Date(version).toISOString(),
    })),
  })
  await intent.clickhouse.live.command({ sql: 'TRUNCATE TABLE intent_signals', params: {} })
  await intent.clickhouse.live.command({
    sql: 'TRUNCATE TABLE intent_signals_by_person',
    params: {},
  })
  const signal = { topic, daysAgo: 1, source: 'x' }
  await intent.signal([
    ...addresses.slice(0, 24).map((email) => ({ ...signal, email, score: 50 })),
    ...(score === null ? [] : addresses.slice(24).map((email) => ({ ...signal, email, score }))),
  ])
  await reloadIdentity(intent.clickhouse.live)
}

/** Leaves that choose the prospects, and leaves that ask what is known of them. */
const event = {
  event: { filter: `page_path:eq:${path}`, within_days: 7 },
}
const choosing = (): object[] => [event, { list: { list_id: listId } }]
const asking: (object | null)[] = [
  null,
  { profile: { field: 'job_title', op: 'eq', value: 'CEO' } },
  { profile: { field: 'birth_year', op: 'lt', value: 1975 } },
  { profile: { field: 'company_domain', op: 'eq', value: 'chosen.example' } },
  { intent: { topics: [topic], min_score: 60 } },
]

const api = async (method: 'GET' | 'POST', url: string, payload?: object) => {
  const headers = { 'x-project-id': projectId }
  const answer = await intent.app.inject({
    method,
    url: `/api/v1${url}`,
    headers,
    ...(payload && { payload }),
  })
  expect({ url, status: answer.statusCode, body: answer.body.slice(0, 300) }).toMatchObject({
    status: 200,
  })
  return answer.json()
}

/** All that a caller learns for free of the people whom it chose. */
async function freeAnswers(definitions: readonly [string, object][]): Promise<unknown[]> {
  const answers: unknown[] = []
  for (const [id, definition] of definitions) {
    const build = await intent.build(id)
    answers.push(await api('POST', '/audiences/sample', { definition }))
    const { audience } = await api('GET', `/audiences/${id}`)
    answers.push([audience.count, audience.bucket_counts])
    const { builds } = await api('GET', `/audiences/${id}/builds?limit=1`)
    expect(builds[0].build_id).toBe(build)
    answers.push(builds[0].count)
    for (const min_score of [0, 60]) {
      const asked = { topics: [topic], min_score, audience_id: id }
      const { results, count } = await api('POST', '/intent/people/multi/preview', asked)
      answers.push([results, count])
      answers.push(await api('POST', '/intent/people/multi', { ...asked, dry_run: true }))
    }
  }
  const items = hems.map((hem, n) => ({ id: `${n}`, hem }))
  const repeated = [...items, ...Array.from({ length: 50 }, () => items[24]!)]
  answers.push(await api('POST', '/intent/batch', { items, dry_run: true }))
  answers.push(await api('POST', '/intent/batch', { items: repeated, dry_run: true }))
  const { counts } = await lists.importFile(`${hems.join('\n')}\n`, { kind: 'hems' })
  answers.push(counts)
  return answers
}

test(
  'no free answer depends on the title, birth year, identity or interest of people whom the caller chose',
  async () => {
    const definitions: [string, object][] = []
    for (const choice of choosing()) {
      for (const question of asking) {
        const include = question ? { all: [choice, question] } : choice
        const definition = { entity: 'people', include }
        definitions.push([await intent.create(definition), definition])
      }
    }
    await fc.assert(
      fc.asyncProperty(
        worlds,
        worlds,
        fc.nat(definitions.length - 1),
        async (one, other, index) => {
          await make(one)
          const before = await freeAnswers([definitions[index]!])
          await make(other)
          expect(await freeAnswers([definitions[index]!])).toEqual(before)
        },
      ),
      { numRuns: runs, endOnFailure: true },
    )
    expect((await intent.charged()).audience ?? 0).toBe(0)
  },
  60_000 + runs * 20_000,
)

test('a charged read of the same audience tells what the free answers leave out', async () => {
  await make({ title: 'CEO', birthYear: 1970, isOnePerson: false, score: 90 })
  const include = { all: [event, asking[1]!] }
  const id = await intent.create({ entity: 'people', include })
  await intent.build(id)
  expect(await api('GET', `/audiences/${id}/records`)).toMatchObject({ count: 2 })
})

/** How an answer refuses. */
const refusalOf = async (url: string, payload?: object) => {
  const headers = { 'x-project-id': projectId }
  const method = payload ? 'POST' : 'GET'
  const answer = await intent.app.inject({
    method,
    url: `/api${url}`,
    headers,
    ...(payload && { payload }),
  })
  const { error, kind } = answer.json()
  return { status: answer.statusCode, error, kind }
}

test('a refusal by a limit does not tell how many records there would be', async () => {
  const limitToOneMore = async () => {
    const charged = await intent.charged()
    for (const meter of ['intent', 'audience', 'resolution_full_profile'])
      await intent.postgres.query(
        `INSERT INTO usage_limits VALUES ($1, $2, $3, NULL)
         ON CONFLICT (organization_id, meter) DO UPDATE SET daily_records = excluded.daily_records`,
        [organizationId, meter, (charged[meter] ?? 0) + 1],
      )
  }
  const id = await intent.create({ entity: 'people', include: { all: [event, asking[1]!] } })
  const items = hems.slice(24).map((hem, n) => ({ id: `${n}`, hem }))
  const told = async (world: World) => {
    await make(world)
    await intent.build(id)
    await limitToOneMore()
    return [
      await refusalOf('/v1/intent/batch', { items }),
      await refusalOf('/v1/intent/people', { topic, filter: 'job_title:eq:CEO', limit: 2 }),
      await refusalOf(`/v1/audiences/${id}/records?page_size=2`),
      await refusalOf(`/v1/audiences/${id}/builds/${await currentBuild(id)}/changes?page_size=2`),
      await refusalOf('/v3/events/resolution_full_profile?limit=2&filter=job_title:eq:CEO'),
    ]
  }
  try {
    const interested = await told({ title: 'CEO', birthYear: 1970, isOnePerson: false, score: 90 })
    expect(
      await told({ title: 'Potter', birthYear: 1970, isOnePerson: false, score: null }),
    ).toEqual(interested)
    expect(interested.map(({ status }) => status)).toEqual(interested.map(() => 429))
  } finally {
    await intent.postgres.query('DELETE FROM usage_limits')
  }
})

const currentBuild = async (id: string) => (await api('GET', `/audiences/${id}`)).audience.build_id

test('a page of one person whom the caller knows does not tell whether others follow', async () => {
  const known = hems.slice(0, 24).toSorted()[0]!
  expect(known < hems[24]! && known < hems[25]!).toBe(true)
  const first_name = `Prospect ${hems.indexOf(known)}`
  const isKnown = { profile: { field: 'first_name', op: 'eq', value: first_name } }
  const include = { all: [event, { any: [isKnown, asking[1]!] }] }
  const id = await intent.create({ entity: 'people', include })
  const pages = async (world: World) => {
    await make(world)
    const build = await intent.build(id)
    const records = await api('GET', `/audiences/${id}/records?page_size=1`)
    const changes = await api('GET', `/audiences/${id}/builds/${build}/changes?page_size=1`)
    const interested = await api('POST', '/intent/people', { topic, audience_id: id, limit: 1 })
    expect(records.results).toMatchObject([{ hem: known }])
    expect(interested.results).toMatchObject([{ person: { hem: known } }])
    const shapes = [records, changes, interested].map((page) => Object.keys(page).toSorted())
    return [shapes, records.count]
  }
  const others = await pages({ title: 'CEO', birthYear: 1970, isOnePerson: false, score: 10 })
  expect(await pages({ title: 'Potter', birthYear: 1970, isOnePerson: false, score: 10 })).toEqual(
    others,
  )
})

test('to opt somebody out does not change a free figure, and hides them from what is charged', async () => {
  await make({ title: 'Potter', birthYear: 1970, isOnePerson: false, score: 90 })
  const potters = { profile: { field: 'job_title', op: 'eq', value: 'Potter' } }
  const include = { all: [potters, { intent: { topics: [topic] } }] }
  const definition = { entity: 'people', include }
  const companies = { entity: 'companies', include: potters }
  const filter = 'job_title:eq:Potter'
  const ids = [await intent.create(definition), await intent.create(companies)]
  const figures = async () => {
    for (const id of ids) await intent.build(id)
    const audiences = await Promise.all(ids.map((id) => api('GET', `/audiences/${id}`)))
    const asked = { topic, filter }
    const { estimate } = await api('POST', '/audiences/sample', { definition })
    const { count } = await api('POST', '/intent/people/preview', asked)
    const dry = await api('POST', '/intent/people', { ...asked, dry_run: true })
    const days = await api('GET', `/stats/tables/intent-daily-per-topic-stats?topic=${topic}`)
    return [
      ...audiences.map(({ audience }) => [audience.count, audience.bucket_counts]),
      estimate,
      count,
      dry.records_to_charge,
      days.rows,
    ]
  }
  const shown = async () => {
    const { results } = await api('POST', '/intent/people', { topic, filter })
    const records = await api('GET', `/audiences/${ids[0]}/records`)
    return [results.length, records.results.length]
  }
  const before = await figures()
  expect(before[0]).toMatchObject([26, {}])
  // One company is too few for a free count.
  expect(before[1]).toMatchObject([null, {}])
  expect(before.slice(2, 5)).toMatchObject([{ count: 26 }, 26, 26])
  expect(await shown()).toEqual([26, 26])
  await intent.optOut(hems[24]!, organizationId)
  await requestErasure(intent.postgres, organizationId, { hem: hems[25]! })
  await reloadIdentity(intent.clickhouse.live)
  try {
    expect(await figures()).toEqual(before)
    expect(await shown()).toEqual([24, 24])
  } finally {
    await intent.clickhouse.live.command({ sql: 'TRUNCATE TABLE opt_outs', params: {} })
    await intent.postgres.query('DELETE FROM erasures')
    await reloadIdentity(intent.clickhouse.live)
  }
})

test('records without a charge do not tell whether a person whom the caller chose and opted out is a member', async () => {
  const chosen = hems[24]!
  const { listId } = await lists.importFile(`${chosen}\n`, { kind: 'hems' })
  const include = { all: [{ list: { list_id: listId } }, asking[1]!] }
  const id = await intent.create({ entity: 'people', include })
  await intent.optOut(chosen, organizationId)
  await reloadIdentity(intent.clickhouse.live)
  try {
    const answers: unknown[] = []
    for (const title of titles) {
      await make({ title, birthYear: 1970, isOnePerson: false, score: null })
      await intent.build(id)
      const { results, meta, ...answer } = await api('GET', `/audiences/${id}/records?page_size=1`)
      expect([results, meta.charged]).toEqual([[], 0])
      answers.push(answer)
    }
    expect(answers[0]).toEqual(answers[1])
    expect(answers[0]).toMatchObject({ count: 0, total: 0 })
  } finally {
    await intent.clickhouse.live.command({ sql: 'TRUNCATE TABLE opt_outs', params: {} })
    await reloadIdentity(intent.clickhouse.live)
  }
})

test('once an organization has intent rules, interest that it can forge is not counted for free', async () => {
  await make({ title: 'CEO', birthYear: 1970, isOnePerson: false, score: 90 })
  const rule = { rules: [{ topic: 'wine', path: `${path}%` }] }
  const put = await intent.app.inject({ method: 'PUT', url: '/api/v1/intent/rules', payload: rule })
  expect(put.statusCode).toBe(200)
  await countOwnEvents(
    { postgres: intent.postgres, clickhouse: intent.clickhouse.live },
    organizationId,
  )
  const wine = { topic: 'wine', filter: 'job_title:eq:CEO' }
  // The live route counts their interest, so a free answer about it would tell their title.
  expect((await api('POST', '/intent/people', wine)).results).toHaveLength(2)
  expect(await api('POST', '/intent/people/preview', wine)).toMatchObject({
    results: [],
    count: null,
  })
  expect(await api('POST', '/intent/people', { ...wine, dry_run: true })).toMatchObject({
    exact: false,
  })
  const definition = {
    entity: 'people',
    include: { all: [{ intent: { topics: ['wine'] } }, asking[1]!] },
  }
  expect(await api('POST', '/audiences/sample', { definition })).toMatchObject({
    sample: [],
    estimate: null,
  })
  const id = await intent.create(definition)
  await intent.build(id)
  const { audience } = await api('GET', `/audiences/${id}`)
  expect(audience).toMatchObject({
    count: null,
    bucket_counts: { low: null, medium: null, high: null },
  })
  const { builds } = await api('GET', `/audiences/${id}/builds?limit=1`)
  expect(builds[0].count).toBeNull()
})

test('an audience of another project than the key’s is not found by intent routes', async () => {
  const otherProject = randomUUID()
  await intent.postgres.query(
    "INSERT INTO projects (project_id, organization_id, name) VALUES ($1, $2, 'Other')",
    [otherProject, organizationId],
  )
  const id = await intent.create({ entity: 'people', include: asking[3]! })
  await intent.build(id)
  const asked = { topic, audience_id: id }
  const ask = (path: string, key: string) => intent.post(path, asked, { 'x-project-key': key })
  for (const path of ['people', 'people/preview']) {
    expect((await ask(path, otherProject)).json()).toMatchObject({ error: 'audience not found' })
    expect((await ask(path, projectId)).statusCode).toBe(200)
  }
})
