/** `npx footfall-server intent load`: signals and topics out of files, by the loader of the identity store. */
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { syncTopics } from '../../../../collector/platform/clickhouse/topics.ts'
import { hemOf } from '../../../../collector/platform/hem.ts'
import { csv, type IdentityStore, ndjson, openIdentityStore } from '../../identity/harness.ts'
import { dateAgo } from './harness.ts'

let store: IdentityStore
beforeAll(async () => {
  store = await openIdentityStore()
})
afterAll(() => store.close())
beforeEach(async () => {
  for (const table of ['intent_signals', 'intent_signals_by_person', 'identity_loads'])
    await store.clickhouse.command({ sql: `TRUNCATE TABLE ${table}`, params: {} })
})

const signals = [
  { topic: 'wine', email: ' Ada@Load.Example ', date: dateAgo(0), score: '80', source: 'one' },
  { topic: 'wine', email: 'ben@load.example', date: dateAgo(3), score: '12.6', source: 'one' },
  {
    topic: 'golf',
    email: 'ben@load.example',
    date: `${dateAgo(9)}T23:10:00Z`,
    score: '',
    source: '',
  },
]
const companies = [
  {
    topic: 'golf',
    company_domain: 'WWW.Load.Example',
    date: dateAgo(1),
    score: '100',
    source: 'two',
  },
]
const loaded = [
  ['golf', dateAgo(9), hemOf('ben@load.example'), '', '', 100],
  ['golf', dateAgo(1), '', 'load.example', 'two', 100],
  ['wine', dateAgo(3), hemOf('ben@load.example'), '', 'one', 13],
  ['wine', dateAgo(0), hemOf('ada@load.example'), '', 'one', 80],
]
const stored = async (): Promise<unknown[][]> =>
  (
    await store.rows<{ row: unknown[] }>(
      `SELECT (topic, toString(date), if(hem_number = 0, '', lower(hex(reinterpretAsFixedString(hem_number)))),
         company_domain, source, score) AS row FROM intent_signals FINAL ORDER BY topic, date`,
    )
  ).map(({ row }) => row)
const byPerson = async () =>
  store.rows(
    `SELECT topic, toString(date) AS date, score, lower(hex(reinterpretAsFixedString(hem_number))) AS hem
     FROM intent_signals_by_person FINAL WHERE hem_number != 0 AND hem_key = toUInt64(hem_number) ORDER BY topic, date`,
  )

const formats: Record<string, () => Promise<string[]>> = {
  CSV: async () => [
    store.write('people.csv', csv(signals)),
    store.write('companies.csv', csv(companies)),
  ],
  'NDJSON, packed': async () => [
    store.write('all.ndjson.gz', gzipSync(ndjson([...signals, ...companies]))),
  ],
  Parquet: async () => {
    const all = store.write(
      'all.parquet',
      await store.bytes(
        `SELECT * FROM format(JSONEachRow, 'topic String, email Nullable(String), company_domain Nullable(String), date String, score Nullable(Float64), source String', '${ndjson(
          [...signals, ...companies].map(({ score, ...row }) => ({
            ...row,
            score: score === '' ? null : Number(score),
          })),
        )}') FORMAT Parquet`,
      ),
    )
    return [all]
  },
}

test.each(Object.keys(formats))('signals of %s are stored by topic and by person', async (name) => {
  const { code, stdout } = await store.intent([
    'load',
    '--into',
    'signals',
    ...(await formats[name]!()),
  ])
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^4 rows loaded into intent_signals/),
  })
  expect(await stored()).toEqual(loaded)
  expect(await byPerson()).toEqual(
    loaded
      .filter(([, , hem]) => hem !== '')
      .map(([topic, date, hem, , , score]) => ({ topic, date, score, hem })),
  )
  expect(await store.leftovers()).toEqual([])
})

test('a file that is loaded again changes nothing; another score takes the place of the first', async () => {
  const file = store.write('again.csv', csv(signals))
  await store.intent(['load', file])
  const once = await stored()
  await store.intent(['load', file])
  expect(await stored()).toEqual(once)
  await store.intent(['load', store.write('newer.csv', csv([{ ...signals[0], score: '5' }]))])
  expect(
    (await stored()).find(([topic, date]) => topic === 'wine' && date === dateAgo(0))!.at(-1),
  ).toBe(5)
  expect((await byPerson()).map(({ score }) => score)).toEqual([100, 13, 5])
})

test('rows that cannot be taken are written down with their reasons, and cost the others nothing', async () => {
  const rows = [
    { ...signals[0], company_domain: '' },
    { ...signals[0], topic: 'nonsense' },
    { ...signals[0], date: dateAgo(-2) },
    { ...signals[0], date: '2026-02-31' },
    { ...signals[0], date: 'yesterday' },
    { ...signals[0], score: '101' },
    { ...signals[0], email: 'not one' },
    { ...signals[0], email: '' },
    { ...signals[0], company_domain: 'load.example' },
    { ...signals[1], company_domain: '' },
  ]
  const file = store.write('bad.csv', csv(rows))
  const { code, stdout } = await store.intent(['load', file])
  expect({ code, stdout }).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('2 rows loaded'),
  })
  const rejected = readFileSync(`${file}.rejected.ndjson`, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { line: number; reason: string })
  expect(rejected.map(({ line, reason }) => [line, reason.split(':')[0]])).toEqual([
    [3, 'topic'],
    [4, 'date'],
    [5, 'date'],
    [6, 'date'],
    [7, 'score'],
    [8, 'email'],
    [9, 'neither hem nor email'],
    [10, 'company_domain'],
  ])
})

test('operators load topics of their own, beside those that there are or in their place', async () => {
  const count = async () =>
    (await store.rows<{ n: number }>('SELECT count() AS n FROM intent_topics FINAL'))[0]!.n
  const shipped = await count()
  const own = [
    { topic: 'acme:widgets', label: 'Widgets', parent: '' },
    { topic: 'acme:gears', label: 'Gears', parent: 'acme:widgets' },
    { topic: 'wine', label: 'Wines of the world', parent: 'food_and_drink' },
  ]
  const file = store.write('topics.ndjson', ndjson(own))
  expect((await store.intent(['load', '--into', 'topics', file])).stdout).toContain(
    '3 rows loaded into intent_topics',
  )
  expect(await count()).toBe(shipped + 2)
  await syncTopics(store.clickhouse)
  const [wine] = await store.rows<{ label: string }>(
    "SELECT label FROM intent_topics FINAL WHERE topic = 'wine'",
  )
  expect(wine).toEqual({ label: 'Wines of the world' })
  const bad = store.write(
    'bad-topics.ndjson',
    ndjson([{ topic: 'a b', label: 'x' }, { topic: 'ok', label: '' }, own[0]!]),
  )
  expect((await store.intent(['load', '--into', 'topics', bad])).stdout).toContain(
    '2 rows rejected',
  )
  await store.intent(['load', '--into', 'topics', '--replace', file])
  await syncTopics(store.clickhouse)
  expect(await count()).toBe(3)
})

test.each([
  [['load', '--into', 'profiles', 'x.csv'], '--into must be one of signals, topics'],
  [['load'], 'FILE is required'],
])('%j is refused in one line', async (args, message) => {
  const { code, stderr } = await store.runLine(['intent', ...args])
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(message) })
})
