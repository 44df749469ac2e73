/** Intent leaves of audiences: who meets them, by which window, and what that costs. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { hemOf } from '../../../../collector/platform/hem.ts'
import { projectId } from '../../events/harness.ts'
import { makeWorld, openIntent, topics } from './harness.ts'
import { companiesWith, interested, interestOf, peopleWith } from './naive.ts'

const { people, signals } = makeWorld(41, { people: 800, signals: 3_000 })
let intent: Awaited<ReturnType<typeof openIntent>>

beforeAll(async () => {
  intent = await openIntent()
  await intent.knowPeople(people)
  await intent.signal(signals)
})
afterAll(() => intent.close())

const api = (method: 'GET' | 'POST' | 'PATCH', path: string, payload?: object) =>
  intent.app.inject({
    method,
    url: `/api/v1/audiences${path}`,
    headers: { 'x-project-id': projectId },
    ...(payload && { payload }),
  })
const create = async (definition: object, intent_window_days = 30) => {
  const answer = await api('POST', '', { name: 'A', definition, intent_window_days })
  if (answer.statusCode !== 201) throw new Error(answer.body)
  return answer.json().audience.id as string
}
const leaf = (topics: string[], more: object = {}) => ({ intent: { topics, ...more } })
const ofPeople = (include: object, exclude?: object) => ({
  entity: 'people',
  include,
  ...(exclude && { exclude }),
})

/** Each person who meets a question, known by the first of their addresses. */
const keysOf = (asked: Partial<Parameters<typeof interested>[1]> & { topics: string[] }) =>
  interested(peopleWith(people, signals), { match: 'any', min_score: 0, days: 30, ...asked })
    .map(({ key }) => key)
    .sort()
/** The members of a build in the same form: a person found by two addresses would be there twice. */
const membersOf = async (buildId: string) => {
  const hems = await intent.membersOf(buildId)
  return hems.map((hem) => firstHem.get(hem)!).sort()
}
const firstHem = new Map(
  people.flatMap(({ emails }) => emails.map((email) => [hemOf(email), hemOf(emails[0]!)] as const)),
)

test.each([
  [leaf([topics[0]!]), { topics: [topics[0]!] }],
  [
    leaf([topics[0]!, topics[1]!], { match: 'all' }),
    { topics: topics.slice(0, 2), match: 'all' as const },
  ],
  [leaf([topics[2]!], { min_score: 40 }), { topics: [topics[2]!], min_score: 40 }],
  [
    {
      all: [
        leaf([topics[3]!]),
        { profile: { field: 'job_seniority', op: 'eq', value: 'director' } },
      ],
    },
    { topics: [topics[3]!], seniority: 'director' },
  ],
])('members meet %j by any of their addresses, and are there once', async (include, asked) => {
  for (const days of [7, 60]) {
    const audienceId = await create(ofPeople(include), days)
    const expected = keysOf({ ...asked, days })
    expect(await membersOf(await intent.build(audienceId))).toEqual(expected)
    const { audience } = (await api('GET', `/${audienceId}`)).json()
    expect(audience).toMatchObject({
      count: expected.length,
      intent_window_days: days,
      meter: 'audience_predictive',
    })
    const { low, medium, high } = audience.bucket_counts
    expect(low + medium + high).toBe(expected.length)
  }
})

test('bucket_counts are members by their greatest score, scaled to the window', async () => {
  const audienceId = await create(ofPeople({ any: [leaf(topics)] }), 30)
  const countsOf = (days: number) => {
    const counts = { low: 0, medium: 0, high: 0 }
    for (const { signals: own } of peopleWith(people, signals)) {
      const best = Math.max(-1, ...interestOf(own, days, topics).map(({ score }) => score))
      const bucket = best < 0 ? null : best < 50 ? 'low' : best < 75 ? 'medium' : 'high'
      if (bucket) counts[bucket]++
    }
    return counts
  }
  await intent.build(audienceId)
  expect((await api('GET', `/${audienceId}`)).json().audience.bucket_counts).toEqual(countsOf(30))
  await api('PATCH', `/${audienceId}`, { intent_window_days: 120 })
  await intent.build(audienceId)
  const { audience } = (await api('GET', `/${audienceId}`)).json()
  expect(audience.bucket_counts).toEqual(countsOf(120))
  expect(audience.bucket_counts).not.toEqual(countsOf(30))
})

test('companies meet leaves by their own signals and those of their people', async () => {
  const audienceId = await create(
    { entity: 'companies', include: leaf([topics[0]!], { min_score: 20 }) },
    90,
  )
  const members = await intent.membersOf(await intent.build(audienceId))
  const expected = interested(companiesWith(people, signals), {
    topics: [topics[0]!],
    match: 'any',
    min_score: 20,
    days: 90,
  })
  expect(members.sort()).toEqual(expected.map(({ key }) => key).sort())
})

test('exclude and not take people out by their intent', async () => {
  const [a, b] = [topics[0]!, topics[1]!]
  const without = keysOf({ topics: [a] }).filter((key) => !keysOf({ topics: [b] }).includes(key))
  for (const definition of [
    ofPeople(leaf([a]), leaf([b])),
    ofPeople({ all: [leaf([a]), { not: leaf([b]) }] }),
  ]) {
    expect(await membersOf(await intent.build(await create(definition)))).toEqual(without)
  }
})

test('what intent decides is charged as predictive, also through another audience', async () => {
  const own = await create(ofPeople(leaf([topics[0]!])))
  expect((await api('GET', `/${own}`)).json().audience.meter).toBe('audience_predictive')
  await intent.build(own)
  const using = await create(ofPeople({ audience: { audience_id: own } }))
  await intent.build(using)
  expect((await api('GET', `/${using}`)).json().audience.meter).toBe('audience_predictive')
  const before = await intent.charged()
  const records = (await api('GET', `/${using}/records`)).json().results.length
  expect(records).toBeGreaterThan(0)
  expect((await intent.charged()).audience_predictive).toBe(
    (before.audience_predictive ?? 0) + records,
  )
  // Another definition costs less from the build on that is made of it.
  const profiles = ofPeople({ profile: { field: 'job_seniority', op: 'eq', value: 'director' } })
  await api('PATCH', `/${using}`, { definition: profiles })
  expect((await api('GET', `/${using}`)).json().audience.meter).toBe('audience_predictive')
  await intent.build(using)
  expect((await api('GET', `/${using}`)).json().audience.meter).toBe('audience')
})

test('an audience that becomes predictive is charged again on that meter: its records and changes', async () => {
  const everybody = ofPeople({ profile: { field: 'email', op: 'is_set', value: true } })
  const predictive = ofPeople(leaf([topics[0]!]))
  const id = await create(everybody)
  const edit = async (definition: object) => {
    await api('PATCH', `/${id}`, { definition })
    return intent.build(id)
  }
  /** What reads of an answer are charged, by meter. */
  const chargedBy = async (path: string) => {
    const before = await intent.charged()
    const { results } = (await api('GET', `/${id}${path}`)).json()
    const after = await intent.charged()
    const of = (meter: string) => (after[meter] ?? 0) - (before[meter] ?? 0)
    return { all: results.length, plain: of('audience'), predictive: of('audience_predictive') }
  }
  await intent.build(id)
  const paid = await chargedBy('/records?page_size=5000')
  expect(paid).toEqual({ all: paid.all, plain: paid.all, predictive: 0 })

  const build = await edit(predictive)
  const changes = await chargedBy(`/builds/${build}/changes?page_size=5000`)
  expect(changes.all).toBe(keysOf({ topics: [topics[0]!] }).length)
  expect(changes.all).toBeLessThan(paid.all)
  expect(changes).toEqual({ all: changes.all, plain: 0, predictive: changes.all })
  const again = await chargedBy('/records?page_size=5000')
  expect(again).toEqual({ all: changes.all, plain: 0, predictive: 0 })

  // A refresh, and an edit that stays on the meter, keep the charges.
  await intent.build(id)
  expect(await chargedBy('/records?page_size=5000')).toEqual(again)
  await edit(ofPeople({ not: { not: leaf([topics[0]!], { min_score: 1 }) } }))
  expect((await chargedBy('/records?page_size=5000')).predictive).toBe(0)

  // Back on the meter of the first build: its charges count.
  const last = await edit(everybody)
  expect((await chargedBy('/records?page_size=5000')).plain).toBe(0)
  const changesOf = async (build: string) =>
    (await api('GET', `/${id}/builds/${build}/changes`)).json()
  expect(await changesOf(build)).toMatchObject({
    previous_build_id: null,
    meta: { meter: 'audience_predictive' },
  })
  expect(await changesOf(last)).toMatchObject({
    previous_build_id: null,
    meta: { meter: 'audience' },
  })
})

test('samples count by the window and name the meter; explain says whether the leaf is met, by any address', async () => {
  const definition = ofPeople(leaf([topics[0]!]))
  const sample = (await api('POST', '/sample', { definition, intent_window_days: 60 })).json()
  const expected = keysOf({ topics: [topics[0]!], days: 60 })
  expect(sample).toMatchObject({
    estimate: { count: expected.length },
    meter: 'audience_predictive',
  })
  const audienceId = await create(definition, 60)
  await intent.build(audienceId)
  const everybody = people.filter(({ emails }) => expected.includes(hemOf(emails[0]!)))
  const several = everybody.find(({ emails }) => emails.length > 1)!
  for (const email of [...several.emails, 'nobody@known.example']) {
    const explained = (await api('GET', `/${audienceId}/explain?email=${email}`)).json()
    const isIn = expected.includes(firstHem.get(hemOf(email))!)
    expect(explained).toMatchObject({ in_build: isIn, matches: isIn, leaves: [{ met: isIn }] })
  }
})

test('topics that are none are refused with their place', async () => {
  const definition = ofPeople({ any: [leaf([topics[0]!]), leaf(['nonsense'])] })
  for (const answer of [
    await api('POST', '', { name: 'A', definition }),
    await api('POST', '/sample', { definition }),
    await api('PATCH', `/${await create(ofPeople(leaf([topics[0]!])))}`, { definition }),
  ]) {
    expect({ status: answer.statusCode, ...answer.json() }).toMatchObject({
      status: 400,
      pointer: '/definition/include/any/1/intent/topics',
      message: expect.stringContaining('"nonsense"'),
    })
  }
})
