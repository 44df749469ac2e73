/**
 * Builds against a naive evaluator: after any changes in any order, both find the same members. Each history
 * has events (also late ones), links of all kinds, profiles that are loaded again, opt-outs and erasures.
 * After each part of it the audiences are built again, with the counts of earlier builds. Histories belong to
 * organizations that share the tables and nothing else. `ORACLE_HISTORIES` sets how many.
 */
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readIdentityState } from '../../../collector/audiences/builder/buildInputs.ts'
import { carryOutErasures, requestErasure } from '../../../collector/identity/privacy/erasures.ts'
import { reloadIdentity } from '../../../collector/identity/store/refresh.ts'
import { storeOrganization, storeProject } from '../../harness/owners.ts'
import { waitFor } from '../../harness/service.ts'
import { openAudiences } from './harness.ts'
import {
  eventsOfToday,
  goOn,
  type History,
  hemOf,
  isOf,
  newHistory,
  type Rows,
} from './histories.ts'
import { evaluate, everywhere, type Link, type World } from './naive.ts'
import { definitionOf } from './randomDefinitions.ts'

const histories = Number(process.env.ORACLE_HISTORIES ?? 10)
/** Number of histories at the same time. */
const atOnce = Math.min(25, Math.ceil(histories / 2))
/** Of so many audiences are built at once: ClickHouse has few cores. */
const lanes = 4
const parts = 3
let audiences: Awaited<ReturnType<typeof openAudiences>>
beforeAll(async () => {
  audiences = await openAudiences()
})
afterAll(() => audiences?.close())

/** All of a table at once. */
async function insert(told: readonly Rows[]): Promise<void> {
  const lines = new Map<string, string[]>()
  for (const [table, rows] of told.flatMap((each) => Object.entries(each)))
    lines.set(table, [
      ...(lines.get(table) ?? []),
      ...rows.map((row) => `${JSON.stringify(row)}\n`),
    ])
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

/** Deletes everything of the earlier histories. */
async function beginAnew(): Promise<void> {
  for (const table of [
    'events',
    'identity_links',
    'profiles',
    'profile_rows',
    'companies',
    'opt_outs',
  ])
    await audiences.clickhouse.live.command({ sql: `TRUNCATE TABLE ${table}`, params: {} })
  for (const table of ['audience_leaf_days', 'audience_members'])
    await audiences.clickhouse.live.command({ sql: `TRUNCATE TABLE ${table}`, params: {} })
  await audiences.postgres.query('TRUNCATE erasures, audiences CASCADE')
}

async function beginHistory(seed: number, isSettled: boolean): Promise<History> {
  const history = newHistory(seed, isSettled)
  const { random, projectId, made } = history
  const { organizationId } = history.world
  const { postgres } = audiences
  await storeOrganization(postgres, organizationId, `History ${seed}`)
  await storeProject(postgres, projectId, organizationId)
  for (const entity of ['people', 'people', 'companies']) {
    const used = made.filter(({ definition }) => definition.entity === entity).map(({ id }) => id)
    const definition = { entity, ...definitionOf(random, used) }
    made.push({ id: await audiences.create(definition, 'Audience', projectId), definition })
  }
  return history
}

/** Some steps of each history. */
async function takeSteps(told: readonly History[]): Promise<void> {
  const rows: Rows[] = []
  for (const history of told) {
    const { random } = history
    for (let step = random.integer(2, 4); step > 0; step--) rows.push(goOn(history))
  }
  await insert(rows)
}

/** Erases people of some histories. Earlier erasures run again, because they end ten minutes later. */
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

/** Builds all audiences and compares each with the evaluator; returns how many have members. */
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

/** What dictionaries are to say, they say. */
async function settle(isSettled: boolean): Promise<void> {
  const { postgres, clickhouse } = audiences
  const isDone = async () => {
    await reloadIdentity(clickhouse.live)
    return (
      !isSettled || (await readIdentityState({ postgres, clickhouse: clickhouse.live })) !== null
    )
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
      await takeSteps(told)
      await erase(told)
      await takeSteps(told)
      await settle(isSettled)
      nonEmpty += await compare(told, `${part}`)
    }
    await insert(told.map(eventsOfToday))
    nonEmpty += await compare(told, 'today')
  }
  // Most histories have somebody, else this would prove little.
  expect(nonEmpty).toBeGreaterThan(histories * 4)
}, 7_200_000)
