import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { companyAt, type Graph } from '../../../../collector/identity/generate/index.ts'
import { reloadIdentity } from '../../../../collector/identity/store/refresh.ts'
import {
  fillSampleDatabase,
  sampleCompanies,
} from '../../../../collector/ops/sandbox/sampleDatabase.ts'
import { companyFields } from '../../../../schemas/fields.ts'
import { openEvents, type Row } from '../harness.ts'

let events: Awaited<ReturnType<typeof openEvents>>
const graph: Graph = { seed: 8, companies: 3 }
const [large, small] = [0, 1].map((index) => companyAt(graph, index)) as [Row, Row]

beforeAll(async () => {
  events = await openEvents()
  const { live } = events.clickhouse
  const insert = (table: string, rows: Row[]) =>
    live.insertLines(
      table,
      Readable.from([rows.map((row) => `${JSON.stringify(row)}\n`).join('')], {
        objectMode: false,
      }),
      table,
    )
  await insert('companies', [large, small])
  await insert('company_networks', [
    { network: '10.0.0.0/8', company_domain: large.company_domain },
    { network: '10.1.0.0/16', company_domain: small.company_domain },
    { network: '2001:db8::/32', company_domain: small.company_domain },
    { network: '192.0.2.0/24', company_domain: 'unknown.example' },
  ])
  await reloadIdentity(live)
})
afterAll(() => events.close())

const ask = (query: Record<string, string>, headers = {}) =>
  events.app.inject({ url: `/api/v1/lookup/company?${new URLSearchParams(query)}`, headers })
const shown = (company: Row) =>
  Object.fromEntries(companyFields.map(({ name }) => [name, company[name] ?? null]))

test.each<[Record<string, string>, Row]>([
  [{ ip: '10.2.3.4' }, large],
  [{ ip: '10.1.3.4' }, small],
  [{ ip: '::ffff:10.1.3.4' }, small],
  [{ ip: '2001:db8::1' }, small],
  [{ domain: String(large.company_domain) }, large],
  [{ domain: ` WWW.${String(large.company_domain).toUpperCase()}` }, large],
  [{ email: `Ann@${String(small.company_domain).toUpperCase()}` }, small],
])('%j belongs to its company, which is charged as one record', async (query, company) => {
  const answer = await ask(query)
  expect(answer.json()).toEqual({
    matched: true,
    company: shown(company),
    meta: { meter: 'lookup', records: 1, charged: 1 },
  })
  expect(answer.headers['x-footfall-charged']).toBe('1')
})

test.each([
  { ip: '11.0.0.1' },
  { ip: '192.0.2.1' },
  { domain: 'nobody.example' },
  { email: 'ann@nobody.example' },
])('%j is nobody’s, which is free', async (query) => {
  const answer = await ask(query as Record<string, string>)
  expect(answer.statusCode).toBe(200)
  expect(answer.json()).toEqual({
    matched: false,
    company: null,
    meta: { meter: 'lookup', records: 0, charged: 0 },
  })
  expect(answer.headers['x-footfall-charged']).toBe('0')
})

describe('what cannot be asked is answered 400, which names the parameter', () => {
  test.each<[string, Record<string, string>]>([
    ['ip', {}],
    ['domain', { ip: '10.0.0.1', domain: 'a.example' }],
    ['ip', { ip: '10.0.0' }],
    ['ip', { ip: '' }],
    ['domain', { domain: 'https://a.example/' }],
    ['email', { email: 'a.example' }],
    ['select', { domain: 'a.example', select: 'company_name' }],
  ])('%s: %j', async (parameter, query) => {
    const answer = await ask(query)
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ error: 'invalid_parameter', parameter })
  })
})

test('a test key asks the sample, and is not charged', async () => {
  await fillSampleDatabase(events.clickhouse.test, new Date(), 1)
  const mode = { 'x-test-mode': 'test' }
  const [company] = sampleCompanies().map((line) => JSON.parse(line) as Row)
  const answer = await ask({ domain: String(company!.company_domain) }, mode)
  expect(answer.json()).toEqual({
    matched: true,
    company: shown(company!),
    meta: { meter: 'lookup', records: 1, charged: 0 },
  })
  expect(answer.headers['x-footfall-charged']).toBe('0')
  expect((await ask({ domain: String(large.company_domain) }, mode)).json().matched).toBe(false)
})
