/**
 * Builds against a naive evaluator: whatever happened, in whatever order, both find the same members. Each history has
 * events (late ones too), links of all kinds, profiles that are loaded again, opt-outs and erasures; after each part of
 * it the audiences are built anew, with what earlier builds have counted. Histories are those of organizations that
 * share the tables and know nothing of each other. `ORACLE_HISTORIES` sets how many.
 */
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readIdentityState } from '../../../collector/audiences/build/inputs.ts'
import { reloadIdentity } from '../../../collector/people/identity/refresh.ts'
import { carryOutErasures, requestErasure } from '../../../collector/people/privacy/erasures.ts'
import { type Random, seededRandom } from '../../../collector/platform/seededRandom.ts'
import { dayMs } from '../../../collector/query/window.ts'
import { waitFor } from '../../harness/service.ts'
import { eventOf } from '../events/harness.ts'
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

const histories = Number(process.env.ORACLE_HISTORIES ?? 10)
/** So many are told side by side. */
const atOnce = Math.min(25, Math.ceil(histories / 2))
/** Of so many audiences are built at once: ClickHouse has few cores. */
const lanes = 4
const parts = 3
const people = 12
const cookies = 16
const domains = ['alder', 'birch', 'cedar', 'dune']
const paths = ['/pricing', '/pricing/team', '/docs', '/']

let audiences: Awaited<ReturnType<typeof openAudiences>>
beforeAll(async () => {
  audiences = await openAudiences()
})
afterAll(() => audiences?.close())

/** An organization with what happened to it. */
interface History {
  readonly seed: number
  readonly random: Random
  readonly world: World
  readonly projectId: string
  readonly nowMs: number
  /** Whether its links were stored long ago: then the dictionaries say what the tables do, and builds stand on others. */
  readonly isSettled: boolean
  /** Everybody that it may be about. */
  readonly hems: ReadonlySet<string>
  readonly made: { id: string; definition: Node }[]
}

/** Rows that wait to be inserted, by their table. */
type Rows = Record<string, object[]>

/** All of a table at once. */
async function insert(told: readonly Rows[]): Promise<void> {
  const lines = new Map<string, string[]>()
  for (const [table, rows] of told.flatMap((each) => Object.entries(each)))
    lines.set(table, [...(lines.get(table) ?? []), ...rows.map((row) => `${JSON.stringify(row)}\n`)])
  await Promise.all(
    [...lines].map(([table, some]) =>
      audiences.clickhouse.live.insertLines(
        table,
        Readable.from([some.join('')], { objectMode: false }),
        randomUUID(),
      ),
    ),
  )
}

/** Everything of the histories before is gone. */
async function beginAnew(): Promise<void> {
  for (const table of ['events', 'identity_links', 'profiles', 'profile_rows', 'companies', 'opt_outs'])
    await audiences.clickhouse.live.command({ sql: `TRUNCATE TABLE ${table}`, params: {} })
  for (const table of ['audience_leaf_days', 'audience_members'])
    await audiences.clickhouse.live.command({ sql: `TRUNCATE TABLE ${table}`, params: {} })
  await audiences.postgres.query('TRUNCATE erasures, audiences CASCADE')
}

async function beginHistory(seed: number, isSettled: boolean): Promise<History> {
  const random = seededRandom(seed)
  const [organizationId, projectId] = [randomUUID(), randomUUID()]
  const { postgres } = audiences
  await postgres.query('INSERT INTO organizations (organization_id, name) VALUES ($1, $2)', [
    ...[organizationId, `History ${seed}`],
  ])
  await postgres.query("INSERT INTO projects (project_id, organization_id, name) VALUES ($1, $2, 'Shop')", [
    ...[projectId, organizationId],
  ])
  const made: History['made'] = []
  for (const entity of ['people', 'people', 'companies']) {
    const used = made.filter(({ definition }) => definition.entity === entity).map(({ id }) => id)
    const definition = { entity, ...definitionOf(random, used) }
    made.push({ id: await audiences.create(definition, 'Audience', projectId), definition })
  }
  const world: World = {
    ...{ organizationId, events: [], links: [], profiles: [], companies: [], optOuts: [] },
    ...{ erased: new Map(), built: new Map() },
  }
  const hems = new Set(Array.from({ length: people }, (_, index) => hemNumbered(seed * 1_000 + index + 1)))
  return { seed, random, world, projectId, hems, made, isSettled, nowMs: Date.now() }
}

const cookieOf = ({ seed, random }: History): string =>
  `c00c1e00-0000-4000-8000-${String(seed * 1_000 + random.integer(0, cookies - 1)).padStart(12, '0')}`
const hemOf = ({ seed, random }: History): string => hemNumbered(seed * 1_000 + random.integer(1, people))
/** Whether somebody is of this history: profiles and companies are everybody's, so definitions find those of others. */
const isOf = ({ seed, hems }: History, member: string): boolean =>
  hems.has(member) || member.endsWith(`.history${seed}.example`)
const domainOf = ({ seed, random }: History): string => `${random.pick(domains)}.history${seed}.example`

function eventsOf(history: History, count: number, agoMs: () => number): Rows {
  const { random, world, projectId, nowMs } = history
  const events = Array.from(
    { length: count },
    (): Event => ({
      event_id: random.uuid(),
      project_id: projectId,
      cookie_id: cookieOf(history),
      event_type: random.pick(['page_view', 'page_view', 'custom', 'form_submission']),
      page_path: random.pick(paths),
      is_bot: random.chance(0.1),
      event_data: {
        ...(random.chance(0.5) && { plan: random.pick(['pro', 'team']) }),
        seats: random.integer(1, 9),
      },
      ts_millis: nowMs - agoMs(),
    }),
  )
  world.events.push(...events)
  const rows = events.map(({ event_data, page_path, ...event }) =>
    eventOf(nowMs, 0, {
      ...event,
      organization_id: world.organizationId,
      event_data: JSON.stringify(event_data),
      page_path,
      page_url: `https://shop.example${page_path}`,
    }),
  )
  return { events: rows }
}

const eventsOfToday = (history: History): Rows => {
  const { random, nowMs } = history
  return eventsOf(history, random.integer(1, 10), () => random.integer(1, nowMs % dayMs))
}

/** What may happen: the world is told at once, the tables by the rows. */
const happen: Record<string, (history: History) => Rows> = {
  events: (history) => {
    const { random } = history
    return eventsOf(history, random.integer(5, 40), () => random.integer(-dayMs, 6 * dayMs))
  },

  links(history) {
    const { random, world, nowMs } = history
    const links = Array.from({ length: random.integer(1, 8) }, (_, index): Link => {
      const isOfGraph = random.chance(0.35)
      return {
        organization_id: isOfGraph ? everywhere : random.chance(0.1) ? randomUUID() : world.organizationId,
        cookie_id: cookieOf(history),
        hem: hemOf(history),
        source: isOfGraph ? 'loaded' : random.pick(['identify', 'identify', 'signed', 'loaded']),
        confidence: random.pick([0.5, 1]),
        // Each at a time of its own: of two that replace each other one is the later.
        observed_at: new Date(nowMs - random.integer(0, 20 * dayMs) + index).toISOString(),
      }
    })
    world.links.push(...links)
    const stored = history.isSettled ? { stored_at: new Date(nowMs - 2 * 3_600_000).toISOString() } : {}
    return { identity_links: links.map((link) => ({ ...link, ...stored })) }
  },

  profiles(history) {
    const { random, world } = history
    const rows = Array.from({ length: random.integer(1, 8) }, () => {
      const known = <T>(value: T): T | null => (random.chance(0.75) ? value : null)
      const profile: Profile = {
        hem: hemOf(history),
        job_title: known(random.pick(['CEO', 'CTO', 'Engineer'])),
        age: known(random.integer(18, 80)),
        is_investor: known(random.chance(0.5)),
        company_domain: known(domainOf(history)),
        company_industry: known(random.pick(['Software', 'Retail'])),
        company_employee_count: known(random.integer(1, 500)),
      }
      world.profiles.push(profile)
      // Of two of a hem the later one counts.
      return { ...profile, updated_at: new Date(Date.now() + world.profiles.length).toISOString() }
    })
    return { profiles: rows }
  },

  companies(history) {
    const { random, world } = history
    const company = {
      company_domain: domainOf(history),
      company_industry: random.pick(['Software', 'Retail', null]),
      company_employee_count: random.integer(1, 500),
    }
    world.companies.push(company)
    const updated_at = new Date(Date.now() + world.companies.length).toISOString()
    return { companies: [{ ...company, updated_at }] }
  },

  optOut(history) {
    const { random, world } = history
    const optOut = {
      organization_id: random.pick([world.organizationId, everywhere, randomUUID()]),
      ...(random.chance(0.6) ? { hem: hemOf(history) } : { cookie_id: cookieOf(history) }),
    }
    world.optOuts.push(optOut)
    return { opt_outs: [{ hem: '', cookie_id: everywhere, ...optOut, is_active: true }] }
  },
}

const often = ['events', 'events', 'events', 'links', 'links', 'profiles', 'profiles', 'companies', 'optOut']

/** Some steps of each history. */
async function goOn(told: readonly History[]): Promise<void> {
  const rows: Rows[] = []
  for (const history of told) {
    const { random } = history
    for (let step = random.integer(2, 4); step > 0; step--) rows.push(happen[random.pick(often)]!(history))
  }
  await insert(rows)
}

/** Somebody of some histories is erased; those of before are gone over again, for they end ten minutes later. */
async function erase(told: readonly History[]): Promise<void> {
  const { postgres, clickhouse } = audiences
  for (const history of told) {
    const { random, world } = history
    if (!random.chance(0.3)) continue
    const hem = hemOf(history)
    await requestErasure(postgres, world.organizationId, { hem })
    if (!world.erased.has(hem)) world.erased.set(hem, new Set())
  }
  for (const { world } of told) forget(world)
  const worlds = told.map(({ world }) => world)
  const hems = worlds.flatMap(({ erased }) => [...erased.keys()])
  const organizations = worlds.flatMap(({ erased, organizationId }) =>
    [...erased.keys()].map(() => organizationId),
  )
  const browsers = worlds.flatMap(({ erased }) => [...erased.values()].flatMap((some) => [...some]))
  if (hems.length === 0) return
  await waitFor(
    'the erasures',
    async () => {
      await carryOutErasures({ postgres, clickhouse: clickhouse.live })
      const [left] = await clickhouse.live.rows<{ left: number }>({
        sql: `SELECT (SELECT count() FROM system.mutations WHERE database = currentDatabase() AND NOT is_done)
                + (SELECT count() FROM events WHERE cookie_id IN {browsers:Array(UUID)})
                + (SELECT count() FROM audience_leaf_days WHERE cookie_id IN {browsers:Array(UUID)})
                + (SELECT count() FROM audience_members
                   WHERE (organization_id, hem_number) IN arrayZip({organizations:Array(UUID)},
                     arrayMap(hem -> reinterpretAsUInt256(unhex(hem)), {hems:Array(String)}))) AS left`,
        params: { browsers, hems, organizations },
      })
      return left!.left === 0
    },
    120_000,
  )
}

function forget(world: World): void {
  for (const [hem, browsers] of world.erased) {
    const isTheirs = (link: Link) =>
      [world.organizationId, everywhere].includes(link.organization_id) && link.hem === hem
    for (const { cookie_id } of world.links.filter(isTheirs)) browsers.add(cookie_id)
  }
  const erased = new Set([...world.erased.values()].flatMap((some) => [...some]))
  world.events = world.events.filter(({ cookie_id }) => !erased.has(cookie_id))
  world.links = world.links.filter(
    (link) =>
      link.organization_id !== world.organizationId ||
      (!erased.has(link.cookie_id) && !world.erased.has(link.hem)),
  )
}

/** Builds all audiences and compares each with what the evaluator finds; how many of them have somebody. */
async function compare(told: readonly History[], part: string): Promise<number> {
  let nonEmpty = 0
  const waiting = [...told]
  const lane = async () => {
    for (let history = waiting.shift(); history; history = waiting.shift()) {
      const { seed, world, made, nowMs } = history
      for (const { id, definition } of made) {
        const built = await audiences.membersOf(await audiences.build(id, nowMs))
        const members = built.filter((member) => isOf(history, member))
        const expected = evaluate(world, definition, nowMs)
        const told = JSON.stringify({ seed, part, definition })
        expect(members.toSorted(), told).toEqual([...expected].sort())
        world.built.set(id, expected)
        if (members.length > 0) nonEmpty++
      }
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return nonEmpty
}

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

/** What dictionaries are to say, they say. */
async function settle(isSettled: boolean): Promise<void> {
  const { postgres, clickhouse } = audiences
  const isDone = async () => {
    await reloadIdentity(clickhouse.live)
    return !isSettled || (await readIdentityState({ postgres, clickhouse: clickhouse.live })) !== null
  }
  await waitFor('the dictionaries', isDone, 120_000)
}

test(`${histories} random histories: each build has the members that the naive evaluator finds`, async () => {
  let nonEmpty = 0
  for (let first = 1; first <= histories; first += atOnce) {
    const isSettled = ((first - 1) / atOnce) % 2 === 1
    await beginAnew()
    const told: History[] = []
    for (let seed = first; seed < first + atOnce && seed <= histories; seed++)
      told.push(await beginHistory(seed, isSettled))
    for (let part = 1; part <= parts; part++) {
      await goOn(told)
      await erase(told)
      await goOn(told)
      await settle(isSettled)
      nonEmpty += await compare(told, `${part}`)
    }
    await insert(told.map(eventsOfToday))
    nonEmpty += await compare(told, 'today')
  }
  // Most histories have somebody, else this would prove little.
  expect(nonEmpty).toBeGreaterThan(histories * 4)
}, 7_200_000)
