/**
 * Builds against a naive evaluator: whatever happened, in whatever order, both find the same members. Each history has
 * events (late ones too), links of all kinds, profiles that are loaded again, opt-outs and erasures; after each part of
 * it the audiences are built anew, with what earlier builds have counted. `ORACLE_HISTORIES` sets how many.
 */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { reloadIdentity } from '../../../collector/people/identity/refresh.ts'
import { carryOutErasures, requestErasure } from '../../../collector/people/privacy/erasures.ts'
import { type Random, seededRandom } from '../../../collector/platform/seededRandom.ts'
import { dayMs } from '../../../collector/query/window.ts'
import { waitFor } from '../../harness/service.ts'
import { eventOf, organizationId, projectId } from '../events/harness.ts'
import { openAudiences } from './harness.ts'
import {
  type Event,
  evaluate,
  everywhere,
  hemNumbered,
  type Link,
  type Profile,
  type World,
} from './naive.ts'

const histories = Number(process.env.ORACLE_HISTORIES ?? 5)
const people = 12
const cookies = Array.from(
  { length: 16 },
  (_, index) => `c00c1e00-0000-4000-8000-${String(index).padStart(12, '0')}`,
)
const domains = ['alder.example', 'birch.example', 'cedar.example', 'dune.example']
const paths = ['/pricing', '/pricing/team', '/docs', '/']

let audiences: Awaited<ReturnType<typeof openAudiences>>
const directory = mkdtempSync(join(tmpdir(), 'footfall-test-'))
beforeAll(async () => {
  audiences = await openAudiences()
})
afterAll(async () => {
  await audiences.close()
  rmSync(directory, { recursive: true, force: true })
})

const insert = (table: string, rows: readonly object[]) =>
  audiences.clickhouse.live.insertLines(
    table,
    Readable.from([rows.map((row) => `${JSON.stringify(row)}\n`).join('')], { objectMode: false }),
    randomUUID(),
  )

/** Everything of the history before is gone. */
async function beginAnew(): Promise<World> {
  for (const table of ['events', 'identity_links', 'profiles', 'profile_rows', 'companies', 'opt_outs'])
    await audiences.clickhouse.live.command({ sql: `TRUNCATE TABLE ${table}`, params: {} })
  await audiences.postgres.query('TRUNCATE erasures, audiences CASCADE')
  return {
    ...{ organizationId, events: [], links: [], profiles: [], companies: [], optOuts: [] },
    ...{ erased: new Map(), built: new Map() },
  }
}

const happen: Record<string, (random: Random, world: World, nowMs: number) => Promise<void>> = {
  async events(random, world, nowMs) {
    const events = Array.from(
      { length: random.integer(5, 40) },
      (): Event => ({
        event_id: random.uuid(),
        project_id: projectId,
        cookie_id: random.pick(cookies),
        event_type: random.pick(['page_view', 'page_view', 'custom', 'form_submission']),
        page_path: random.pick(paths),
        is_bot: random.chance(0.1),
        event_data: {
          ...(random.chance(0.5) && { plan: random.pick(['pro', 'team']) }),
          seats: random.integer(1, 9),
        },
        ts_millis: nowMs - random.integer(-dayMs, 6 * dayMs),
      }),
    )
    world.events.push(...events)
    await insert(
      'events',
      events.map(({ event_data, page_path, ...event }) =>
        eventOf(nowMs, 0, {
          ...event,
          event_data: JSON.stringify(event_data),
          page_path,
          page_url: `https://shop.example${page_path}`,
        }),
      ),
    )
  },

  async links(random, world, nowMs) {
    const links = Array.from({ length: random.integer(1, 8) }, (_, index): Link => {
      const isOfGraph = random.chance(0.35)
      return {
        organization_id: isOfGraph ? everywhere : random.chance(0.1) ? randomUUID() : organizationId,
        cookie_id: random.pick(cookies),
        hem: hemNumbered(random.integer(1, people)),
        source: isOfGraph ? 'loaded' : random.pick(['identify', 'identify', 'signed', 'loaded']),
        confidence: random.pick([0.5, 1]),
        // Each at a time of its own: of two that replace each other one is the later.
        observed_at: new Date(nowMs - random.integer(0, 20 * dayMs) + index).toISOString(),
      }
    })
    world.links.push(...links)
    await insert('identity_links', links)
  },

  async profiles(random, world) {
    const profiles = Array.from({ length: random.integer(1, 8) }, (): Profile => {
      const known = <T>(value: T): T | null => (random.chance(0.75) ? value : null)
      return {
        hem: hemNumbered(random.integer(1, people)),
        job_title: known(random.pick(['CEO', 'CTO', 'Engineer'])),
        age: known(random.integer(18, 80)),
        is_investor: known(random.chance(0.5)),
        company_domain: known(random.pick(domains)),
        company_industry: known(random.pick(['Software', 'Retail'])),
        company_employee_count: known(random.integer(1, 500)),
      }
    })
    // One after the other: of two of a hem the later one counts.
    for (const profile of profiles) {
      world.profiles.push(profile)
      await insert('profiles', [
        { ...profile, updated_at: new Date(Date.now() + world.profiles.length).toISOString() },
      ])
    }
  },

  async companies(random, world) {
    const company = {
      company_domain: random.pick(domains),
      company_industry: random.pick(['Software', 'Retail', null]),
      company_employee_count: random.integer(1, 500),
    }
    world.companies.push(company)
    await insert('companies', [
      { ...company, updated_at: new Date(Date.now() + world.companies.length).toISOString() },
    ])
  },

  async optOut(random, world) {
    const optOut = {
      organization_id: random.pick([organizationId, everywhere, randomUUID()]),
      ...(random.chance(0.6)
        ? { hem: hemNumbered(random.integer(1, people)) }
        : { cookie_id: random.pick(cookies) }),
    }
    world.optOuts.push(optOut)
    await insert('opt_outs', [{ hem: '', cookie_id: everywhere, ...optOut, is_active: true }])
  },

  async erasure(random, world) {
    const hem = hemNumbered(random.integer(1, people))
    if (!world.erased.has(hem)) world.erased.set(hem, new Set())
    // Those of before are gone over again, for they end ten minutes later.
    for (const [hem, cookies] of world.erased) {
      const { links } = world
      const isTheirs = (link: Link) =>
        [organizationId, everywhere].includes(link.organization_id) && link.hem === hem
      for (const { cookie_id } of links.filter(isTheirs)) cookies.add(cookie_id)
    }
    const erased = new Set([...world.erased.values()].flatMap((cookies) => [...cookies]))
    world.events = world.events.filter(({ cookie_id }) => !erased.has(cookie_id))
    world.links = world.links.filter(
      (link) =>
        link.organization_id !== organizationId ||
        (!erased.has(link.cookie_id) && !world.erased.has(link.hem)),
    )
    const { postgres, clickhouse } = audiences
    await requestErasure(postgres, organizationId, { hem })
    const deps = { postgres, clickhouse: clickhouse.live }
    await waitFor(
      'the erasure',
      async () => {
        await carryOutErasures(deps)
        const [left] = await clickhouse.live.rows<{ left: number }>({
          sql: `SELECT (SELECT count() FROM system.mutations WHERE database = currentDatabase() AND NOT is_done)
                  + (SELECT count() FROM events WHERE cookie_id IN {cookies:Array(UUID)})
                  + (SELECT count() FROM audience_leaf_days WHERE cookie_id IN {cookies:Array(UUID)})
                  + (SELECT count() FROM audience_members
                     WHERE hem_number IN arrayMap(hem -> reinterpretAsUInt256(unhex(hem)), {hems:Array(String)})) AS left`,
          params: { cookies: [...erased], hems: [...world.erased.keys()] },
        })
        return left!.left === 0
      },
      60_000,
    )
  },
}

const often = ['events', 'events', 'events', 'links', 'links', 'profiles', 'profiles', 'companies', 'optOut']
/** Erasures take seconds each. */
const steps = [...often, ...often, 'erasure']

const profileLeaf = (random: Random) => {
  const leaf = random.pick([
    { field: 'job_title', op: 'eq', value: 'CEO' },
    { field: 'job_title', op: 'ne', value: 'CEO' },
    { field: 'job_title', op: 'like', value: 'C%' },
    { field: 'job_title', op: 'in', value: ['CTO', 'Engineer'] },
    { field: 'age', op: 'gte', value: 40 },
    { field: 'age', op: 'lt', value: 50 },
    { field: 'age', op: 'between', value: [30, 60] },
    { field: 'age', op: 'is_set', value: false },
    { field: 'is_investor', op: 'eq', value: true },
    { field: 'company_industry', op: 'eq', value: 'Software' },
    { field: 'company_industry', op: 'is_set', value: true },
    { field: 'company_employee_count', op: 'gt', value: 100 },
  ])
  return { profile: leaf }
}

const eventLeaf = (random: Random) => ({
  event: {
    ...(random.chance(0.5) && { event_type: random.pick(['page_view', 'custom']) }),
    ...(random.chance(0.7) && {
      filter: random.pick([
        'page_path:like:/pricing%',
        'page_path:eq:/docs',
        'page_path:in:/docs|/',
        'is_bot:eq:false,page_path:ne:/',
        'event_data.plan:eq:pro',
        'event_data.seats:gte:5',
        'resolved:eq:true',
      ]),
    }),
    ...(random.chance(0.5) && { at_least: random.integer(1, 4) }),
    within_days: random.integer(1, 7),
  },
})

type Node = Record<string, unknown>

function treeOf(random: Random, depth: number, used: readonly string[]): Node {
  const leaf = (): Node =>
    used.length > 0 && random.chance(0.15)
      ? { audience: { audience_id: random.pick(used) } }
      : random.chance(0.6)
        ? eventLeaf(random)
        : profileLeaf(random)
  if (depth === 0 || random.chance(0.3)) return leaf()
  const children = () => Array.from({ length: random.integer(1, 3) }, () => treeOf(random, depth - 1, used))
  if (random.chance(0.2)) return { not: treeOf(random, depth - 1, used) }
  return random.chance(0.5) ? { all: children() } : { any: children() }
}

/** A definition that names whom it is about, so that it is no "everybody but". */
const definitionOf = (random: Random, used: readonly string[]): Node => ({
  include: random.chance(0.6)
    ? { all: [random.chance(0.7) ? eventLeaf(random) : profileLeaf(random), treeOf(random, 2, used)] }
    : { any: [eventLeaf(random), profileLeaf(random)] },
  ...(random.chance(0.4) && { exclude: treeOf(random, 2, used) }),
})

test(`${histories} random histories: each build has the members that the naive evaluator finds`, async () => {
  let nonEmpty = 0
  for (let seed = 1; seed <= histories; seed++) {
    const random = seededRandom(seed)
    const world = await beginAnew()
    const nowMs = Date.now()
    const made: { id: string; definition: Node }[] = []
    for (const entity of ['people', 'people', 'companies']) {
      const used = made.filter(({ definition }) => definition.entity === entity).map(({ id }) => id)
      const definition = { entity, ...definitionOf(random, used) }
      made.push({ id: await audiences.create(definition), definition })
    }
    for (let part = 0; part < 3; part++) {
      for (let step = random.integer(4, 8); step > 0; step--)
        await happen[random.pick(steps)]!(random, world, nowMs)
      await reloadIdentity(audiences.clickhouse.live)
      for (const { id, definition } of made) {
        const members = await audiences.membersOf(await audiences.build(id, nowMs))
        const expected = evaluate(world, definition, nowMs)
        expect({ seed, part, definition, members: members.toSorted() }).toEqual({
          ...{ seed, part, definition, members: [...expected].sort() },
        })
        world.built.set(id, expected)
        if (members.length > 0) nonEmpty++
      }
    }
  }
  // Most histories have somebody, else this would prove little.
  expect(nonEmpty).toBeGreaterThan(histories * 3)
}, 3_600_000)
