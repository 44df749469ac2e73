import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Graph, profileAt } from '../../../collector/identity/generate/index.ts'
import { profileFields } from '../../../schemas/fields.ts'
import type { Row } from '../../harness/api.ts'
import { csv, type IdentityStore, ndjson, openIdentityStore } from './harness.ts'

let store: IdentityStore
beforeAll(async () => {
  store = await openIdentityStore()
})
afterAll(() => store.close())

const graph: Graph = { seed: 3, companies: 9 }
const names = ['hem', ...profileFields.map(({ name }) => name)]
const nasty = 'a "quoted", \\ text\nof two lines\tand é 😀 NULL \\N'
/** Every field of a few people, one of them with a text that is hard to write down. */
const people = Array.from({ length: 40 }, (_, index): Row => {
  const profile: Row = { ...profileAt(graph, index), ...(index === 7 && { interests: nasty }) }
  return Object.fromEntries(names.map((name) => [name, profile[name] ?? null]))
}).sort((one, other) => String(one.hem).localeCompare(String(other.hem)))

const contents: Record<string, (folk: readonly Row[]) => Buffer | Promise<Buffer>> = {
  csv: (folk) => Buffer.from(csv(folk)),
  ndjson: (folk) => Buffer.from(ndjson(folk)),
  // What ClickHouse has of them, with the types of the table.
  parquet: async (folk) => {
    await store.clickhouse.command({ sql: 'CREATE OR REPLACE TABLE made AS profiles', params: {} })
    const lines = Buffer.from(ndjson(folk))
    await store.clickhouse.feed(
      {
        sql: "INSERT INTO made SETTINGS date_time_input_format = 'best_effort' FORMAT JSONEachRow",
        params: {},
      },
      lines,
    )
    return store.bytes('SELECT * EXCEPT updated_at FROM made FORMAT Parquet')
  },
}
const packings: Record<string, (content: Buffer) => Buffer | Promise<Buffer>> = {
  plain: (content) => content,
  gz: (content) => gzipSync(content),
  zst: (content) => store.zstd(content),
}
const cases = Object.keys(contents).flatMap((format) =>
  Object.keys(packings).map((packing) => [format, packing] as const),
)

const stored = () => store.rows('SELECT * EXCEPT updated_at FROM profiles FINAL ORDER BY hem')

describe.each(cases)('%s, %s', (format, packing) => {
  test('every field comes as it was, from a file and through standard input', async () => {
    const content = await packings[packing]!(await contents[format]!(people))
    const path = store.write(
      `${packing}.${format}${packing === 'plain' ? '' : `.${packing}`}`,
      content,
    )
    const before = await store.leftovers()
    for (const [args, stdin] of [
      [[path], undefined],
      [['-', '--format', format], content],
    ] as const) {
      await store.clickhouse.command({ sql: 'TRUNCATE TABLE profiles', params: {} })
      expect(await store.runLine(['identity', 'load', ...args], stdin)).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^40 rows loaded into profiles, in /),
      })
      expect(await stored()).toEqual(people)
    }
    expect(await store.leftovers()).toEqual(before)
  })

  test('what breaks off is refused, with its name, and changes nothing', async () => {
    const whole = await packings[packing]!(await contents[format]!(people))
    const before = await stored()
    const path = store.write(
      `half-${packing}.${format}`,
      whole.subarray(0, Math.floor(whole.length / 2)),
    )
    const { code, stderr } = await store.identity(['load', path, '--replace'])
    // Half a text file is a file of half the rows; its last line is not.
    if (packing === 'plain' && format !== 'parquet') {
      expect(code).toBe(0)
      expect((await stored()).length).toBeLessThan(people.length)
    } else {
      expect(code).toBe(1)
      expect(stderr).toMatch(
        format === 'parquet' && packing === 'plain' ? /Parquet/ : /half-.* ends early/,
      )
      expect(await stored()).toEqual(before)
    }
  })
})

test('archives of several parts are read to the end', async () => {
  const [first, second] = [people.slice(0, 10), people.slice(10)].map((part) =>
    Buffer.from(ndjson(part)),
  )
  for (const [name, pack] of [
    ['gz', gzipSync],
    ['zst', store.zstd],
  ] as const) {
    await store.clickhouse.command({ sql: 'TRUNCATE TABLE profiles', params: {} })
    const path = store.write(
      `parts.ndjson.${name}`,
      Buffer.concat([await pack(first!), await pack(second!)]),
    )
    expect(await store.identity(['load', path])).toMatchObject({ code: 0 })
    expect(await stored()).toEqual(people)
  }
})

test('a byte order mark and carriage returns are no part of the data', async () => {
  const path = store.write('windows.csv', `\ufeffhem,first_name\r\n${'ab'.repeat(32)},Ann\r\n`)
  expect(await store.identity(['load', path])).toMatchObject({ code: 0 })
  const found = 'SELECT first_name FROM profiles FINAL WHERE hem = {hem:String}'
  expect(await store.rows(found, { hem: 'ab'.repeat(32) })).toEqual([{ first_name: 'Ann' }])
})
