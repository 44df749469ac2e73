import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { type BuildPart, type KeySpan, spansOfKeys } from '../../../collector/billing/buildPart.ts'
import type { Charge } from '../../../collector/billing/charge.ts'
import { randomRuns } from '../../harness/thorough.ts'
import {
  dayMs,
  differences,
  ledgerOf,
  type Organization,
  openAccounts,
  requestOf,
} from './harness.ts'

/*
 * What builds of audiences cost, in the ledger's own transaction: pages, downloads, answers that break off, two
 * processes, midnight.
 */

const accounts = await openAccounts()
afterAll(() => accounts.close())
const billings = accounts.billings(2)

const members = 60

/** In each build of an audience so many of the people before have left at its start, and as many entered at its end. */
const shift = 7
/** The audience and the place among its builds of each build. */
const builds = new Map<string, { audienceId: string; number: number }>()
/** Who lies at a key of a build. */
const personAt = (buildId: string, key: number) => key + shift * builds.get(buildId)!.number

/** A build of a new audience, or the next one of the audience of `before`. */
async function newBuild({ projectId }: Organization, before?: string): Promise<string> {
  const buildId = randomUUID()
  const last = before === undefined ? { audienceId: randomUUID(), number: -1 } : builds.get(before)!
  const { audienceId } = last
  builds.set(buildId, { audienceId, number: last.number + 1 })
  if (before === undefined) {
    await accounts.postgres.query(
      `INSERT INTO audiences (audience_id, project_id, name, entity, definition, intent_window_days)
       VALUES ($1, $2, 'A', 'people', '{}', 30)`,
      [audienceId, projectId],
    )
  }
  await accounts.postgres.query(
    `INSERT INTO audience_builds (build_id, audience_id, definition, intent_window_days) VALUES ($1, $2, '{}', 30)`,
    [buildId, audienceId],
  )
  return buildId
}

const partOf = (buildId: string, ...keys: KeySpan[]): BuildPart => ({
  buildId,
  keys,
  async findMembers(fromBuildId, spans) {
    const by = personAt(fromBuildId, 0) - personAt(buildId, 0)
    return spans
      .map(({ after, upTo }) => ({
        after: Math.max(after + by, 0),
        upTo: Math.min(upTo + by, members),
      }))
      .filter(({ after, upTo }) => after < upTo)
  },
})

/** Reads keys (after, upTo] of a build as a page would; the charge and how many records it was. */
async function page(
  organization: Organization,
  buildId: string,
  after: number,
  upTo: number,
  billing = billings[0]!,
) {
  const build = partOf(buildId, { after, upTo })
  const usage = { meter: 'audience', projectId: null, recordsMax: upTo - after, build } as const
  const charge = await billing.admit(requestOf(organization), usage)
  const keys = Array.from({ length: upTo - after }, (_, index) => after + 1 + index)
  return { charge, charged: await charge.settle(keys.length, { keys }) }
}

/** Reads all of a build as a download would. */
async function download(organization: Organization, buildId: string) {
  const usage = {
    meter: 'audience',
    projectId: null,
    recordsMax: members,
    build: partOf(buildId, { after: 0, upTo: members }),
  } as const
  const charge = await billings[0]!.admit(requestOf(organization), usage)
  return { charge, charged: await charge.settle(members) }
}

test('a download costs what was not paged that day; then paging is free on every day', async () => {
  const organization = await accounts.newOrganization()
  const buildId = await newBuild(organization)
  const before = accounts.clock.now
  expect((await page(organization, buildId, 0, 25)).charged).toBe(25)
  expect((await download(organization, buildId)).charged).toBe(members - 25)
  for (const days of [0, 1, 30]) {
    accounts.clock.now = before + days * dayMs
    expect((await page(organization, buildId, 10, 40)).charged).toBe(0)
    expect((await download(organization, buildId)).charged).toBe(0)
  }
  accounts.clock.now = before
  expect(await ledgerOf(accounts, organization)).toMatchObject({ records: members })
})

test('a download that breaks off is refunded, and paging costs again', async () => {
  const organization = await accounts.newOrganization()
  const buildId = await newBuild(organization)
  const { charge } = await download(organization, buildId)
  await charge.refund()
  expect(await ledgerOf(accounts, organization)).toMatchObject({ records: 0 })
  expect((await page(organization, buildId, 0, 10)).charged).toBe(10)
})

test('records that lie scattered are charged one by one', async () => {
  const organization = await accounts.newOrganization()
  const buildId = await newBuild(organization)
  const scattered = async (...keys: number[]) => {
    const usage = {
      meter: 'audience',
      projectId: null,
      recordsMax: 9,
      build: partOf(buildId, ...spansOfKeys(keys)),
    } as const
    const charge = await billings[0]!.admit(requestOf(organization), usage)
    return charge.settle(keys.length, { keys })
  }
  expect(await scattered(3, 9, 50)).toBe(3)
  expect(await scattered(3, 4)).toBe(1)
  expect((await page(organization, buildId, 0, members)).charged).toBe(members - 4)
})

test('what was given meanwhile to another stays charged until that breaks off as well', async () => {
  const organization = await accounts.newOrganization()
  const buildId = await newBuild(organization)
  const first = await page(organization, buildId, 0, 30)
  const second = await page(organization, buildId, 0, 30, billings[1])
  expect(second.charged).toBe(0)
  await first.charge.refund()
  expect(await ledgerOf(accounts, organization)).toMatchObject({ records: 30 })
  await second.charge.refund()
  expect(await ledgerOf(accounts, organization)).toMatchObject({ records: 0 })
  expect((await page(organization, buildId, 0, 30)).charged).toBe(30)
})

test('of a page that breaks off only what nobody else was given is refunded', async () => {
  const organization = await accounts.newOrganization()
  const buildId = await newBuild(organization)
  const first = await page(organization, buildId, 0, 30)
  await page(organization, buildId, 20, 40)
  await first.charge.refund()
  expect(await ledgerOf(accounts, organization)).toMatchObject({ records: 20 })
  expect((await page(organization, buildId, 0, 40)).charged).toBe(20)
})

test.each([
  ['the first, then the second', [0, 1]],
  ['the second, then the first', [1, 0]],
] as const)(
  'two pages that lie across each other and both break off cost nothing: %s',
  async (_, order) => {
    const organization = await accounts.newOrganization()
    const buildId = await newBuild(organization)
    const pages = [
      await page(organization, buildId, 0, 30),
      await page(organization, buildId, 20, 40),
    ]
    for (const at of order) await pages[at]!.charge.refund()
    expect(await ledgerOf(accounts, organization)).toMatchObject({ records: 0, micros: 0 })
    expect((await page(organization, buildId, 0, 40)).charged).toBe(40)
  },
)

test('a new build charges that day only for whom no build of the audience was charged for', async () => {
  const organization = await accounts.newOrganization()
  const first = await newBuild(organization)
  expect((await page(organization, first, 0, 30)).charged).toBe(30)
  const second = await newBuild(organization, first)
  expect((await page(organization, second, 0, 40)).charged).toBe(40 - (30 - shift))
  expect((await page(organization, first, 0, members)).charged).toBe(
    members - 30 - (40 + shift - 30),
  )
  // Paging and then downloading costs no more than the download alone.
  expect((await download(organization, second)).charged).toBe(shift)
  accounts.clock.now += dayMs
  expect((await page(organization, second, 0, 40)).charged).toBe(0)
  expect((await page(organization, first, 0, 30)).charged).toBe(30)
  accounts.clock.now -= dayMs
})

test('a download counts on its day for whom it gave in later builds of that day', async () => {
  const organization = await accounts.newOrganization()
  const first = await newBuild(organization)
  expect((await download(organization, first)).charged).toBe(members)
  const second = await newBuild(organization, first)
  expect((await download(organization, second)).charged).toBe(shift)
  accounts.clock.now += dayMs
  const third = await newBuild(organization, second)
  expect((await download(organization, third)).charged).toBe(members)
  accounts.clock.now -= dayMs
})

test('what is refunded in one build is charged again in the next', async () => {
  const organization = await accounts.newOrganization()
  const first = await newBuild(organization)
  const { charge } = await page(organization, first, 0, 30)
  const second = await newBuild(organization, first)
  expect((await page(organization, second, 40, 50)).charged).toBe(10)
  await charge.refund()
  expect((await page(organization, second, 0, 30)).charged).toBe(30)
})

test('what another build gave for nothing stays charged', async () => {
  const organization = await accounts.newOrganization()
  const first = await newBuild(organization)
  const { charge } = await page(organization, first, 0, 30)
  const second = await newBuild(organization, first)
  expect((await page(organization, second, 0, 30 - shift)).charged).toBe(0)
  await charge.refund()
  expect(await ledgerOf(accounts, organization)).toMatchObject({ records: 30 })
})

test('readers of two builds side by side are charged for each person once', async () => {
  const organization = await accounts.newOrganization()
  const first = await newBuild(organization)
  const second = await newBuild(organization, first)
  const size = 5
  const pages = [first, second].flatMap((buildId, by) =>
    Array.from({ length: members / size }, (_, at) =>
      page(organization, buildId, at * size, (at + 1) * size, billings[by]),
    ),
  )
  await Promise.all(pages)
  expect(await ledgerOf(accounts, organization)).toMatchObject({ records: members + shift })
})

test('what a build that was deleted gave is refunded like anything else', async () => {
  const organization = await accounts.newOrganization()
  const buildId = await newBuild(organization)
  const { charge } = await page(organization, buildId, 0, 30)
  await accounts.postgres.query('DELETE FROM audience_builds WHERE build_id = $1', [buildId])
  await charge.refund()
  expect(await ledgerOf(accounts, organization)).toMatchObject({ records: 0 })
  expect((await page(organization, buildId, 0, 30)).charged).toBe(30)
})

test('charged are the records that were given, each once a day: whatever is read, breaks off, is built anew, at whatever hour', async () => {
  const start = accounts.clock.now
  const action = fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant('read' as const),
        page: fc.nat(5),
        by: fc.nat(1),
        breaks: fc.boolean(),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('together' as const),
        page: fc.nat(5),
        breaks: fc.boolean(),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('across' as const),
        page: fc.nat(5),
        breaks: fc.uniqueArray(fc.nat(1), { maxLength: 2 }),
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('rebuild' as const) }) },
    // Downloads and exports go on with a build that is served no more.
    { weight: 2, arbitrary: fc.record({ do: fc.constant('earlier' as const), build: fc.nat(9) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('midnight' as const) }) },
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { maxLength: 25 }),
      fc.constantFrom(10, 12, 20),
      async (actions, size) => {
        accounts.clock.now = start
        const organization = await accounts.newOrganization()
        let buildId = await newBuild(organization)
        const known = [buildId]
        const delivered = new Set<string>()
        const deliver = (after: number, upTo: number) => {
          for (let key = after + 1; key <= upTo; key++)
            delivered.add(`${accounts.clock.now} ${personAt(buildId, key)}`)
        }
        for (const one of actions) {
          if (one.do === 'rebuild') {
            buildId = await newBuild(organization, known.at(-1))
            known.push(buildId)
          }
          if (one.do === 'earlier') buildId = known[one.build % known.length]!
          if (one.do === 'midnight') accounts.clock.now += dayMs
          if (one.do === 'across') {
            const after = (one.page * size) % members
            const ranges = [after, after + size / 2].map(
              (from) => [Math.min(from, members - 1), Math.min(from + size, members)] as const,
            )
            const charges: Charge[] = []
            for (const [from, to] of ranges)
              charges.push((await page(organization, buildId, from, to)).charge)
            // In the order in which they are named.
            for (const at of one.breaks) await charges[at]!.refund()
            for (const [at, range] of ranges.entries())
              if (!one.breaks.includes(at)) deliver(...range)
          }
          if (one.do !== 'read' && one.do !== 'together') continue
          const after = (one.page * size) % members
          const upTo = Math.min(after + size, members)
          const readers = one.do === 'read' ? [billings[one.by]!] : billings
          const reads = await Promise.all(
            readers.map((billing) => page(organization, buildId, after, upTo, billing)),
          )
          const broken: Charge[] = one.breaks ? reads.slice(0, 1).map(({ charge }) => charge) : []
          await Promise.all(broken.map((charge) => charge.refund()))
          if (broken.length < reads.length) deliver(after, upTo)
        }
        expect((await ledgerOf(accounts, organization)).records).toBe(delivered.size)
      },
    ),
    randomRuns(15, 60),
  )
  accounts.clock.now = start
  expect(await differences(accounts.postgres)).toEqual([])
}, 600_000)
