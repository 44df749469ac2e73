/**
 * People with several addresses are one member of an audience: one row, one charge, for any known address.
 */
import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { addOptOut, syncToClickHouse } from '../../../collector/identity/privacy/optOuts.ts'
import { eventOf, linkOf, organizationId, projectId, type Row } from '../events/harness.ts'
import { openAudiences } from './harness.ts'

const it = await openAudiences()
afterAll(() => it.close())

let title: string
/** Ann's two addresses, the second of which was loaded last, and Ben's one. */
let ann: [work: string, home: string]
let ben: string
let clock = Date.now()

const load = (hem: string, person: string, more: Row = {}) =>
  it.know({
    profiles: [
      {
        hem,
        pte_person_id: `${title} ${person}`,
        updated_at: new Date(clock++).toISOString(),
        ...more,
      },
    ],
  })

beforeEach(async () => {
  title = randomUUID()
  const hemOf = (text: string) => createHash('sha256').update(`${title} ${text}`).digest('hex')
  ann = [hemOf('work'), hemOf('home')]
  ben = hemOf('ben')
  await load(ann[0], 'ann', { job_title: title, last_name: 'Work' })
  await load(ann[1], 'ann', { job_title: title, last_name: 'Home' })
  await load(ben, 'ben', { job_title: title, last_name: 'Ben' })
})

const has = (field: string, value: string) => ({ profile: { field, op: 'eq', value } })
const all = () => has('job_title', title)
const ask = (audienceId: string, path: string, query: Record<string, string> = {}) =>
  it.app.inject({
    url: `/api/v1/audiences/${audienceId}/${path}`,
    query: { project_id: projectId, ...query },
  })
async function recordsOf(audienceId: string) {
  const answer = await ask(audienceId, 'records')
  expect(answer.statusCode).toBe(200)
  const { results, count } = answer.json<{ results: Row[]; count: number }>()
  return {
    hems: results.map(({ hem }) => hem),
    count,
    charged: Number(answer.headers['x-footfall-charged']),
  }
}
async function build(include: object, more: object = {}) {
  const audienceId = await it.create({ entity: 'people', include, ...more })
  const buildId = await it.build(audienceId)
  return { audienceId, buildId, members: (await it.membersOf(buildId)).sort() }
}

test('records, counts and charges have one row for each person', async () => {
  const { audienceId, members } = await build(all())
  expect(members).toEqual([ann[1], ben].sort())
  const { hems, count, charged } = await recordsOf(audienceId)
  expect(hems.sort()).toEqual([ann[1], ben].sort())
  expect({ count, charged }).toEqual({ count: 2, charged: 2 })
})

test('a person meets a leaf by any address, and an exclusion too', async () => {
  expect((await build({ all: [all(), has('last_name', 'Work')] })).members).toEqual([ann[1]])
  expect((await build(all(), { exclude: has('last_name', 'Work') })).members).toEqual([ben])
})

test('events of all browsers of a person count together', async () => {
  const cookies = ann.map(() => randomUUID())
  await it.know({ links: ann.map((hem, index) => linkOf(cookies[index], hem)) })
  const now = Date.now()
  await it.insert(
    cookies.map((cookie_id) => eventOf(now, 1_000, { cookie_id, page_path: `/${title}` })),
  )
  const event = { within_days: 2, at_least: 2, filter: `page_path:eq:/${title}` }
  const { audienceId, members } = await build({ event })
  expect(members).toEqual([ann[1]])
  // The next build reuses this one, and checks only people whose events of today have changed.
  await it.insert(
    cookies.map((cookie_id) => eventOf(now, 500, { cookie_id, page_path: `/${title}` })),
  )
  expect(await it.membersOf(await it.build(audienceId))).toEqual([ann[1]])
})

test('whoever opts out with one address is hidden with all, at once and in the next build', async () => {
  const { audienceId } = await build(all())
  await addOptOut(it.postgres, organizationId, { hem: ann[0] })
  await syncToClickHouse(it.postgres, it.clickhouse.live)
  expect((await recordsOf(audienceId)).hems).toEqual([ben])
  expect(await it.membersOf(await it.build(audienceId))).toEqual([ben])
  expect((await recordsOf(audienceId)).hems).toEqual([ben])
})

test('another address that stands for a person is no change, and is not charged again', async () => {
  const { audienceId } = await build(all())
  expect((await recordsOf(audienceId)).charged).toBe(2)
  await load(ann[0], 'ann', { job_title: title, last_name: 'Work' })
  const buildId = await it.build(audienceId)
  expect((await it.membersOf(buildId)).sort()).toEqual([ann[0], ben].sort())
  expect((await recordsOf(audienceId)).charged).toBe(0)
  const changes = await ask(audienceId, `builds/${buildId}/changes`)
  expect(changes.json().results).toEqual([])
})

test('an explanation is of the person, whichever address is asked for', async () => {
  const { audienceId } = await build({ all: [all(), has('last_name', 'Work')] })
  for (const hem of ann) {
    const answer = await ask(audienceId, 'explain', { hem })
    expect(answer.json()).toMatchObject({ known: true, in_build: true, matches: true })
  }
})

test('an audience of an audience has the person once', async () => {
  const { audienceId } = await build({ all: [all(), has('last_name', 'Work')] })
  await load(ann[0], 'ann', { job_title: title, last_name: 'Work' })
  expect((await build({ audience: { audience_id: audienceId } })).members).toEqual([ann[0]])
})
