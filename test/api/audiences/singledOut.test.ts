/** Free counts do not ask for the data of a person whom conditions single out (query/freeAnswers.ts). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { reloadIdentity } from '../../../collector/identity/store/refresh.ts'
import { hemOf } from '../../../collector/platform/hem.ts'
import { seededRandom } from '../../../collector/platform/seededRandom.ts'
import { projectId } from '../events/harness.ts'
import { openIntent } from './intent/harness.ts'

interface Person {
  home_city: string
  job_title: string
  birth_year: number
  income_range: string
  /** The score of interest in golf. */
  score: number | null
}

const random = seededRandom(7)
const incomes = ['under 25K', 'over 250K']
/** Four hundred people, in groups of about a hundred by city and title. */
const others = Array.from(
  { length: 400 },
  (): Person => ({
    home_city: random.pick(['Bonn', 'Ulm']),
    job_title: random.pick(['CEO', 'Potter']),
    birth_year: random.integer(1960, 1963),
    income_range: random.pick(incomes),
    score: random.chance(0.5) ? random.integer(1, 100) : null,
  }),
)
/** The only architect of the only small town. The caller knows this, and asks for income and interest. */
const target: Person = {
  home_city: 'Wyk',
  job_title: 'Architect',
  birth_year: 1970,
  income_range: 'over 250K',
  score: 90,
}
/** Many people share a town with one lawyer, and the profession with this lawyer from elsewhere. */
const neighbours = Array.from({ length: 120 }, (_, n): Person => {
  const isFromKiel = n < 60
  return {
    ...others[n]!,
    home_city: isFromKiel ? 'Kiel' : 'Bonn',
    job_title: isFromKiel ? 'Potter' : 'Lawyer',
    income_range: incomes[n % 2]!,
    score: n % 4 < 2 ? 50 : null,
  }
})
const lawyerOfKiel: Person = { ...target, home_city: 'Kiel', job_title: 'Lawyer' }
/** The only person with a rare title that begins like a frequent one, and the youngest one. */
const rareLawyer: Person = { ...target, job_title: 'Lawyer of the sea', birth_year: 1999 }
const people = [...others, target, ...neighbours, lawyerOfKiel, rareLawyer]

let intent: Awaited<ReturnType<typeof openIntent>>
beforeAll(async () => {
  intent = await openIntent()
  const emails = people.map((_, n) => `person${n}@town.example`)
  await intent.know({
    profiles: people.map(({ score, ...fields }, n) => ({
      hem: hemOf(emails[n]!),
      pte_person_id: `person ${n}`,
      ...fields,
      updated_at: '2026-01-01T00:00:00Z',
    })),
  })
  await intent.signal(
    people.flatMap(({ score }, n) =>
      score === null ? [] : [{ topic: 'golf', email: emails[n]!, daysAgo: 1, source: 'x', score }],
    ),
  )
  await reloadIdentity(intent.clickhouse.live)
})
afterAll(() => intent.close())

const is = (field: keyof Person, value: unknown, op = 'eq') => ({ profile: { field, op, value } })
const ceo = is('job_title', 'CEO')
const wyk = is('home_city', 'Wyk')
const architect = is('job_title', 'Architect')
const kiel = is('home_city', 'Kiel')
const lawyer = is('job_title', 'Lawyer')
const rich = is('income_range', 'over 250K')
const golfer = { intent: { topics: ['golf'] } }

const send = async (url: string, payload?: object) => {
  const answer = await intent.app.inject({
    method: payload ? 'POST' : 'GET',
    url: `/api/v1${url}`,
    headers: { 'x-project-id': projectId },
    ...(payload && { payload }),
  })
  expect({ url, status: answer.statusCode, body: answer.body }).toMatchObject({ status: 200 })
  return answer.json()
}

/** The free counts of a definition, of an estimate and of a build: the same number, or null. */
async function freeCount(definition: object): Promise<number | null> {
  const { sample, estimate } = await send('/audiences/sample', {
    definition: { entity: 'people', ...definition },
  })
  expect(sample).toEqual([])
  const id = await intent.create({ entity: 'people', ...definition })
  await intent.build(id)
  const { audience } = await send(`/audiences/${id}`)
  const { builds } = await send(`/audiences/${id}/builds`)
  const { count } = estimate ?? { count: null }
  expect([audience.count, builds[0].count]).toEqual([count, count])
  return count
}

describe('a definition', () => {
  test('of large groups has an exact count', async () => {
    const include = { all: [ceo, { any: [is('home_city', 'Ulm'), rich] }] }
    expect(await freeCount({ include })).toBe(
      people.filter(
        (one) =>
          one.job_title === 'CEO' && (one.home_city === 'Ulm' || one.income_range === 'over 250K'),
      ).length,
    )
    expect(await freeCount({ include: { all: [ceo, golfer] } })).toBe(
      people.filter(({ job_title, score }) => job_title === 'CEO' && score !== null).length,
    )
  })

  test.each<[string, object]>([
    ['asks for a field of one person', { include: { all: [wyk, architect, rich] } }],
    ['asks for the interest of one person', { include: { all: [wyk, architect, golfer] } }],
    ['describes one person', { include: { all: [wyk, architect] } }],
    ['excludes one person who has a value', { include: rich, exclude: { all: [wyk, architect] } }],
    ['excludes the town of one person', { include: { all: [rich, { not: wyk }] } }],
    ['adds one person', { include: { any: [ceo, { all: [wyk, architect, rich] }] } }],
    [
      'names the town among others',
      { include: { all: [is('home_city', ['Ulm', 'Wyk'], 'in'), rich] } },
    ],
    ['leaves out the town', { include: { all: [is('home_city', 'Wyk', 'ne'), rich] } }],
    ['begins with the birth year', { include: { all: [is('birth_year', 1970, 'gte'), rich] } }],
    ['begins after the birth year', { include: { all: [is('birth_year', 1970, 'lt'), rich] } }],
    [
      'ends with the birth year',
      { include: { all: [is('birth_year', [1961, 1970], 'between'), rich] } },
    ],
    ['asks for a town without people', { include: { all: [is('home_city', 'Sylt'), rich] } }],
    [
      'counts two groups that share one person',
      { include: { all: [{ any: [kiel, lawyer] }, rich] } },
    ],
    [
      'names two values of two fields, which one person has',
      {
        include: {
          all: [
            is('home_city', ['Kiel', 'Bonn'], 'in'),
            is('job_title', ['Lawyer', 'Potter'], 'in'),
            rich,
          ],
        },
      },
    ],
    [
      'leaves a group except one person',
      { include: { all: [kiel, is('job_title', 'Potter'), rich] } },
    ],
    ['compares with a pattern', { include: { all: [is('job_title', 'Lawyer%', 'like'), rich] } }],
    ['compares by order', { include: { all: [is('birth_year', 1963, 'gte'), rich] } }],
    [
      'compares texts by order',
      { include: { all: [is('job_title', ['Lawyer', 'Potter'], 'between'), rich] } },
    ],
    ['asks for any value', { include: { all: [is('job_title', true, 'is_set'), rich] } }],
    [
      'has more values than can be checked',
      {
        include: {
          all: [
            ceo,
            is(
              'home_city',
              Array.from({ length: 64 }, (_, n) => `${n}`),
              'in',
            ),
          ],
        },
      },
    ],
  ])('that %s has no free count', async (_, definition) => {
    expect(await freeCount(definition)).toBeNull()
  })

  test('of companies has a free count for many of them only', async () => {
    const include = is('home_city', 'Wyk')
    const definition = { entity: 'companies', include }
    expect((await send('/audiences/sample', { definition })).estimate).toBeNull()
  })
})

describe('the interested people', () => {
  const ask = (path: string, more: object) =>
    send(`/intent/people${path}`, { topic: 'golf', ...more })

  test('of a large group are counted for free', async () => {
    const count = people.filter(
      ({ job_title, score }) => job_title === 'CEO' && score !== null,
    ).length
    const filter = 'job_title:eq:CEO'
    expect(await ask('/preview', { filter })).toMatchObject({ count, total: count })
    expect(await ask('', { filter, limit: 1_000, dry_run: true })).toMatchObject({
      records_to_charge: count,
      exact: true,
    })
  })

  test.each([
    'home_city:eq:Wyk',
    'home_city:in:Ulm|Wyk',
    'home_city:ne:Wyk',
    'birth_year:gte:1970',
    'birth_year:lt:1970',
    'job_title:eq:CEO,home_city:in:Ulm|Wyk',
    'home_city:eq:Sylt',
    'home_city:in:Kiel|Bonn,job_title:in:Lawyer|Potter',
    'home_city:eq:Kiel,job_title:eq:Potter',
    'job_title:like:Lawyer%',
    'birth_year:gte:1963',
    `home_city:in:${Array.from({ length: 63 }, () => 'Ulm').join('|')}`,
  ])('%s are neither shown nor counted for free', async (filter) => {
    expect(await ask('/preview', { filter })).toMatchObject({ results: [], count: null })
    expect(await ask('', { filter, limit: 7, dry_run: true })).toMatchObject({
      records_to_charge: 7,
      exact: false,
    })
  })

  test('of an audience and a filter are neither shown nor counted', async () => {
    const id = await intent.create({
      entity: 'people',
      include: is('job_title', ['CEO', 'Potter'], 'in'),
    })
    await intent.build(id)
    expect(await ask('/preview', { audience_id: id })).toMatchObject({ count: expect.any(Number) })
    const filter = 'home_city:eq:Ulm'
    expect(await ask('/preview', { audience_id: id, filter })).toMatchObject({ count: null })
  })

  test('of an audience of few are neither shown nor counted, and a charged page does not tell whether more follow', async () => {
    const id = await intent.create({ entity: 'people', include: { all: [wyk, architect] } })
    await intent.build(id)
    expect(await ask('/preview', { audience_id: id })).toMatchObject({ results: [], count: null })
    const page = await ask('', { audience_id: id, limit: 1 })
    expect(page).toMatchObject({ results: [{}], count: 1, next_cursor: expect.any(String) })
  })
})
