/**
 * Builds that reuse the previous one if only today's events have changed. They have the members of a full
 * build, and any other change causes a full build.
 */

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readIdentityState } from '../../../collector/audiences/builder/buildInputs.ts'
import { reloadIdentity } from '../../../collector/identity/store/refresh.ts'
import { dayMs } from '../../../collector/platform/days.ts'
import { seededRandom } from '../../../collector/platform/seededRandom.ts'
import { waitFor } from '../../harness/service.ts'
import { eventOf, linkOf, organizationId } from '../events/harness.ts'
import { openAudiences } from './harness.ts'

const it = await openAudiences()
afterAll(() => it.close())

const random = seededRandom(1)
const hemNumbered = (n: number) => n.toString(16).padStart(64, '0')
const cookies = Array.from({ length: 40 }, () => random.uuid())
const people = 15
/** At noon, so that no midnight comes while events are added. */
const now = Math.floor(Date.now() / dayMs) * dayMs + dayMs / 2

beforeAll(async () => {
  // Known for so long that it is in the large dictionary alone.
  const stored_at = new Date(Date.now() - 2 * 3_600_000).toISOString()
  await it.know({
    links: cookies.map((cookie, n) => linkOf(cookie, hemNumbered(1 + (n % people)), { stored_at })),
    profiles: Array.from({ length: people }, (_, n) => ({
      hem: hemNumbered(n + 1),
      job_title: n % 3 === 0 ? 'CEO' : 'Potter',
    })),
  })
  await it.insert(cookies.map((cookie_id) => eventOf(now, 2 * dayMs, { cookie_id })))
  await settled()
})

/** Waits until the dictionaries say what the tables do, which merges do not change any more. */
async function settled(): Promise<void> {
  for (const table of ['identity_links', 'opt_outs', 'profiles'])
    await it.clickhouse.live.command({ sql: `OPTIMIZE TABLE ${table} FINAL`, params: {} })
  await waitFor(
    'the dictionaries',
    async () => {
      await reloadIdentity(it.clickhouse.live)
      return readIdentityState({ postgres: it.postgres, clickhouse: it.clickhouse.live })
    },
    30_000,
  )
}

const event = (more: object) => ({ event: { event_type: 'page_view', within_days: 5, ...more } })
const isCeo = { profile: { field: 'job_title', op: 'eq', value: 'CEO' } }
const definitions = [
  { entity: 'people', include: event({ at_least: 3 }) },
  { entity: 'people', include: { all: [isCeo, event({ at_least: 4 })] } },
  { entity: 'people', include: event({}), exclude: event({ filter: 'device_type:eq:mobile' }) },
  {
    entity: 'people',
    include: { any: [{ all: [isCeo, { not: event({ at_least: 6 }) }] }, event({ at_least: 5 })] },
  },
  { entity: 'people', include: isCeo },
  { entity: 'people', include: event({ at_least: 2 }), limit: 4 },
]

const visits = (count: number, more: object = {}) =>
  Array.from({ length: count }, () =>
    eventOf(now, random.integer(0, dayMs / 3), {
      cookie_id: random.pick(cookies),
      device_type: random.pick(['desktop', 'desktop', 'mobile']),
      ...more,
    }),
  )

const forgetInputs = (audienceId: string) =>
  it.postgres.query('UPDATE audience_builds SET inputs = NULL WHERE audience_id = $1', [audienceId])

/** Adds a person without a match to a build: a build that reuses it also has them. */
async function plant(buildId: string): Promise<void> {
  await it.clickhouse.live.command({
    sql: `INSERT INTO audience_members (build_id, organization_id, key, hem_number, company_domain)
          SELECT {buildId:UUID}, {organizationId:UUID}, count() + 1, 77, '' FROM audience_members WHERE build_id = {buildId:UUID}`,
    params: { buildId, organizationId },
  })
  await it.postgres.query('UPDATE audience_builds SET count = count + 1 WHERE build_id = $1', [
    buildId,
  ])
}
const planted = '4d'.padEnd(64, '0')

test('after events of today it has whom a build from all has', async () => {
  const audiences = await Promise.all(definitions.map((definition) => it.create(definition)))
  for (const audienceId of audiences) await it.build(audienceId, now)
  for (let round = 0; round < 2; round++) {
    await it.insert(visits(random.integer(0, 8)))
    for (const [index, audienceId] of audiences.entries()) {
      const standing = await it.membersOf(await it.build(audienceId, now))
      await forgetInputs(audienceId)
      const fromAll = await it.membersOf(await it.build(audienceId, now))
      expect({ index, round, members: standing }).toEqual({ index, round, members: fromAll })
    }
  }
}, 600_000)

test('it looks at nobody else; an earlier day, a link, a profile, another definition have all looked at', async () => {
  const audienceId = await it.create(definitions[0]!)
  const buildAfter = async (change: () => Promise<unknown>): Promise<string[]> => {
    await plant(await it.build(audienceId, now))
    await change()
    return it.membersOf(await it.build(audienceId, now))
  }
  expect(await buildAfter(() => it.insert(visits(3)))).toContain(planted)
  expect(await buildAfter(async () => {})).toContain(planted)

  expect(
    await buildAfter(() => it.insert([eventOf(now, dayMs, { cookie_id: cookies[0] })])),
  ).not.toContain(planted)
  expect(
    await buildAfter(() =>
      it.postgres.query(
        `UPDATE audiences SET definition = jsonb_set(definition, '{include,event,at_least}', '2') WHERE audience_id = $1`,
        [audienceId],
      ),
    ),
  ).not.toContain(planted)
  const profile = { hem: hemNumbered(1), job_title: 'Retired' }
  expect(await buildAfter(() => it.know({ profiles: [profile] }))).not.toContain(planted)
  await settled()
  expect(await buildAfter(async () => {})).toContain(planted)
  const link = linkOf(randomUUID(), hemNumbered(2))
  expect(await buildAfter(() => it.know({ links: [link] }))).not.toContain(planted)
}, 600_000)

test('an event on the day before a leaf’s days counts for longer leaves of the same event alone', async () => {
  await it.insert([eventOf(now, 3 * dayMs, { cookie_id: cookies[0], page_path: '/edge' })])
  const atEdge = (within_days: number) => event({ within_days, filter: 'page_path:eq:/edge' })
  const membersOf = async (definition: object) =>
    it.membersOf(await it.build(await it.create({ entity: 'people', ...definition }), now))
  expect(await membersOf({ include: atEdge(3) })).toEqual([hemNumbered(1)])
  expect(await membersOf({ include: atEdge(3), exclude: atEdge(2) })).toEqual([hemNumbered(1)])
  // No day of these leaves is counted yet, and the shorter one comes last.
  await it.insert([eventOf(now, 3 * dayMs, { cookie_id: cookies[0], page_path: '/brink' })])
  const atBrink = (within_days: number) => event({ within_days, filter: 'page_path:eq:/brink' })
  expect(await membersOf({ include: atBrink(3), exclude: atBrink(2) })).toEqual([hemNumbered(1)])
})
