import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Graph, profileAt } from '../../../collector/identity/generate/index.ts'
import type { Row } from '../../harness/api.ts'
import { cli } from '../../harness/commands.ts'
import { waitFor } from '../../harness/service.ts'
import { type IdentityStore, ndjson, openIdentityStore } from './harness.ts'

let store: IdentityStore
beforeAll(async () => {
  store = await openIdentityStore()
})
afterAll(() => store.close())
beforeEach(async () => {
  for (const table of ['profiles', 'profile_rows', 'identity_links', 'identity_loads'])
    await store.clickhouse.command({ sql: `TRUNCATE TABLE ${table}`, params: {} })
})

const graph: Graph = { seed: 11, companies: 10 }
const stored = () => store.rows('SELECT * EXCEPT updated_at FROM profiles FINAL ORDER BY hem')
const countOf = async (table: string) =>
  (await store.rows<{ count: number }>(`SELECT count() AS count FROM ${table} FINAL`))[0]!.count

/** Longest time for a chunk, with other tests running. */
const chunkMs = 60_000

/** A file of several chunks: few people with many fields; every hundredth row is invalid. */
const people = 2_600
const bulky = () => {
  const skills = 'x'.repeat(30_000)
  return ndjson(
    Array.from({ length: people }, (_, index) =>
      index % 100 === 99
        ? { hem: 'x', first_name: String(index) }
        : { hem: index.toString(16).padStart(64, '0'), first_name: String(index), skills },
    ),
  )
}

const lastState = async () =>
  (await store.rows<Row & { bytes: number }>('SELECT * FROM identity_loads FINAL'))[0] ?? null

describe('a load that is killed in the middle', () => {
  test('shows nothing, and the same command goes on and ends it', {
    timeout: 120_000,
  }, async () => {
    const path = store.write('bulky.ndjson', bulky())
    const child = spawn(process.execPath, [cli, 'identity', 'load', path], {
      env: { ...process.env, ...store.env },
      stdio: 'ignore',
    })
    const state = await waitFor(
      'a chunk',
      async () => {
        const found = await lastState()
        return found && found.bytes > 0 ? found : null
      },
      chunkMs,
    )
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(state).toMatchObject({ phase: 'staging' })
    expect(await countOf('profiles')).toBe(0)
    expect(await countOf('profile_rows')).toBe(0)

    const { code, stdout } = await store.identity(['load', path])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^2,574 rows loaded into profiles, including earlier attempts/)
    expect(await countOf('profiles')).toBe(2_574)
    expect(await countOf('profile_rows')).toBe(2_574)
    const rejected = readFileSync(`${path}.rejected.ndjson`, 'utf8').trimEnd().split('\n')
    expect(rejected.map((line) => JSON.parse(line).line)).toEqual(
      Array.from({ length: 26 }, (_, index) => (index + 1) * 100),
    )
    expect(await store.leftovers()).toEqual([])
    expect(await lastState()).toMatchObject({ phase: 'done', rows: 2_574, rejected: 26 })
  })

  test('while it is published is published by the same command', { timeout: 600_000 }, async () => {
    const path = store.write('few.ndjson', ndjson([profileAt(graph, 0), profileAt(graph, 1)]))
    // As far as a kill between the two tables leaves it: one has all of it, the other nothing.
    await store.identity(['load', path])
    const state = await lastState()
    const name = `load_${state!.load_id}`
    for (const sql of [
      `CREATE TABLE ${name} AS profiles`,
      `CREATE TABLE ${name}_rows AS profile_rows`,
      `ALTER TABLE profiles MOVE PARTITION tuple() TO TABLE ${name}`,
      "INSERT INTO identity_loads SELECT * REPLACE ('publishing' AS phase, now64(3) AS updated_at) FROM identity_loads FINAL",
    ])
      await store.clickhouse.command({ sql, params: {} })
    expect(await countOf('profiles')).toBe(0)
    expect(await store.identity(['load', path])).toMatchObject({ code: 0 })
    expect(await countOf('profiles')).toBe(2)
    expect(await countOf('profile_rows')).toBe(2)
    expect(await store.leftovers()).toEqual([])
  })
})

test('the same file loaded once more changes nothing; rows of the same key replace those before', {
  timeout: 120_000,
}, async () => {
  const path = store.write(
    'again.ndjson',
    ndjson([0, 1, 2].map((index) => profileAt(graph, index))),
  )
  await store.identity(['load', path])
  const first = await stored()
  expect(first).toHaveLength(3)
  await store.identity(['load', path])
  expect(await stored()).toEqual(first)

  const changed = { hem: profileAt(graph, 1).hem, first_name: 'Changed' }
  await store.identity(['load', store.write('changed.ndjson', ndjson([changed]))])
  expect(await stored()).toMatchObject(
    [{}, {}, {}].map((_, index) => (first[index]!.hem === changed.hem ? changed : first[index])),
  )
  // The first file again: its rows are the newer ones now.
  await store.identity(['load', path])
  expect(await stored()).toEqual(first)
  await store.identity(['load', store.write('changed.ndjson', ndjson([changed])), '--replace'])
  expect(await stored()).toMatchObject([changed])
  expect(await countOf('profile_rows')).toBe(1)
})

test('what a load that does not go on left behind is removed by the next', async () => {
  for (const name of ['load_0123abcd', 'load_0123abcd_rows'])
    await store.clickhouse.command({ sql: `CREATE TABLE ${name} AS profiles`, params: {} })
  const path = store.write('next.ndjson', ndjson([profileAt(graph, 0)]))
  expect(await store.identity(['load', path])).toMatchObject({ code: 0 })
  expect(await store.leftovers()).toEqual([])
})

test('several files are one load', async () => {
  const paths = [0, 1, 2].map((index) =>
    store.write(`part-${index}.ndjson`, ndjson([profileAt(graph, index)])),
  )
  const broken = store.write('part-3.ndjson', ndjson([{ shoe_size: 47 }]))
  expect(await store.identity(['load', ...paths, broken, '--replace'])).toMatchObject({ code: 1 })
  expect(await countOf('profiles')).toBe(0)
  expect(await store.identity(['load', ...paths, '--replace'])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^3 rows loaded/),
  })
  expect(await countOf('profiles')).toBe(3)
})

test('readers see nothing of a load, or all of it', { timeout: 600_000 }, async () => {
  const [people, loads, parts] = [300, 2, 5]
  // Of several files each, so that there are moments at which a part of a load is there.
  const files = ['old', 'new'].map((first_name) => {
    const rows = Array.from({ length: people }, (_, index) => ({
      hem: (index + 1).toString(16).padStart(64, '0'),
      first_name,
    }))
    const cookies = rows.map(({ hem }) => ({ cookie_id: randomUUID(), hem }))
    const split = (name: string, all: readonly object[]) =>
      Array.from({ length: parts }, (_, part) =>
        store.write(
          `${first_name}-${name}-${part}.ndjson`,
          ndjson(all.filter((_, index) => index % parts === part)),
        ),
      )
    return { profiles: split('profiles', rows), links: split('links', cookies) }
  })
  await store.identity(['load', ...files[0]!.profiles])

  let isLoading = true
  const seen = new Set<string>()
  const read = async () => {
    while (isLoading) {
      const [profiles, rows, links] = await Promise.all([
        store.rows('SELECT first_name AS name, count() AS count FROM profiles FINAL GROUP BY name'),
        store.rows(
          `SELECT JSONExtractString(concat('{', substring(profile, 2), '}'), 'first_name') AS name, count() AS count
           FROM profile_rows FINAL GROUP BY name`,
        ),
        store.rows(
          'SELECT source AS name, count() AS count FROM identity_links FINAL GROUP BY name',
        ),
      ])
      for (const [table, found] of Object.entries({ profiles, rows, links }))
        seen.add(`${table}: ${found.map(({ name, count }) => `${name} ${count}`).join(', ')}`)
    }
  }
  const reading = read()
  for (let at = 1; at <= loads; at++) {
    const { profiles, links } = files[at % 2]!
    const more = at > loads / 2 ? ['--replace'] : []
    expect(await store.identity(['load', ...profiles, ...more])).toMatchObject({ code: 0 })
    expect(await store.identity(['load', ...links, '--into', 'links', '--replace'])).toMatchObject({
      code: 0,
    })
  }
  isLoading = false
  await reading
  expect([...seen].sort()).toEqual(
    [
      ...['profiles', 'rows'].flatMap((table) =>
        ['old', 'new'].map((name) => `${table}: ${name} ${people}`),
      ),
      'links: ',
      `links: loaded ${people}`,
    ].sort(),
  )
})
