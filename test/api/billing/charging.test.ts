import { request } from 'node:http'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { waitFor } from '../../harness/service.ts'
import { headersOf, openApi, rowsStored } from './api.ts'
import { differences, ledgerOf } from './harness.ts'

let api: Awaited<ReturnType<typeof openApi>>
beforeAll(async () => {
  api = await openApi({ patienceMs: 3_000 })
})
afterAll(() => api.close())
afterEach(async () => {
  api.setFate('pass')
  expect(await differences(api.accounts.postgres)).toEqual([])
})

const path = '/api/v3/events/web_event'
const ledger = () => ledgerOf(api.accounts, api.organization)
interface Body {
  rows: unknown[]
  meta: Record<string, unknown>
  error: string
}
const bodyOf = async (answer: Response) => (await answer.json()) as Body

/** What requests add to the ledger. */
async function added(work: () => Promise<unknown>) {
  const before = await ledger()
  await work()
  await api.billing.close()
  const after = await ledger()
  return { entries: after.entries - before.entries, records: after.records - before.records }
}

test.each(['application/json', 'application/x-ndjson', 'text/csv'])(
  'each event is a record: a page as %s is charged by its rows, once, under its request_id',
  async (accept) => {
    let answer!: Response
    const change = await added(async () => {
      answer = await api.ask(`${path}?limit=7`, { headers: { accept } })
      await answer.text()
    })
    expect(change).toEqual({ entries: 1, records: 7 })
    expect(answer.headers.get('x-footfall-charged')).toBe('7')
    const { rows } = await api.accounts.postgres.query(
      'SELECT records::int, meter FROM ledger WHERE request_id = $1',
      [answer.headers.get('x-footfall-request-id')],
    )
    expect(rows).toEqual([{ records: 7, meter: 'events' }])
  },
)

test('meta tells the meter, the records and what was charged; repeat reads bill again', async () => {
  const change = await added(async () => {
    for (const _ of [1, 2]) {
      const { rows, meta } = await bodyOf(await api.ask(`${path}?limit=5`))
      expect(rows).toHaveLength(5)
      expect(meta).toMatchObject({ meter: 'events', records: 5, charged: 5 })
    }
  })
  expect(change).toEqual({ entries: 2, records: 10 })
})

test('schemas, counts, empty results, test keys and errors are not billed', async () => {
  const change = await added(async () => {
    for (const [asked, status] of [
      [`${path}/schema`, 200],
      ['/api/v3/events_schema', 200],
      [`${path}/counts`, 200],
      [`${path}?filter=event_type:eq:copy`, 200],
      [`${path}?limit=0`, 400],
      [`${path}?pixel_id=00000000-0000-4000-8000-000000000000`, 404],
      ['/api/v3/events', 404],
    ] as const) {
      const answer = await api.ask(asked)
      expect([asked, answer.status]).toEqual([asked, status])
      await answer.text()
    }
    const sample = await api.ask(`${path}?limit=5`, {}, api.keys.test)
    expect((await bodyOf(sample)).meta).toMatchObject({ records: 5, charged: 0 })
  })
  expect(change).toEqual({ entries: 0, records: 0 })
})

test('usage of a project key is its project’s; of an organization key that of the project it names', async () => {
  await (await api.ask(`${path}?limit=2`, {}, api.keys.project)).text()
  await (await api.ask(`${path}?limit=3&project_id=${api.organization.projectId}`)).text()
  const { rows } = await api.accounts.postgres.query(
    `SELECT sum(records)::int AS records FROM ledger WHERE project_id = $1`,
    [api.organization.projectId],
  )
  expect(rows).toEqual([{ records: 5 }])
})

test('an error of ClickHouse before the first byte is not charged', async () => {
  api.setFate('refuse')
  const change = await added(async () => {
    expect((await api.ask(`${path}?limit=5`)).status).toBe(503)
  })
  expect(change).toEqual({ entries: 0, records: 0 })
})

test('what ClickHouse breaks off is refunded, less what was handed over, and the reader can tell', async () => {
  api.setFate('cut')
  const change = await added(async () => {
    const answer = await api.ask(`${path}?limit=300`)
    expect(answer.status).toBe(200)
    await expect(answer.text()).rejects.toThrow()
    await waitFor('the refund', async () => {
      const { rowCount } = await api.accounts.postgres.query(
        `SELECT 1 FROM ledger WHERE kind = 'refund' AND request_id = $1`,
        [answer.headers.get('x-footfall-request-id')],
      )
      return rowCount
    })
  })
  expect(change.entries).toBe(2)
  // To the record: slowReaders.test.ts.
  expect(change.records).toBeGreaterThan(0)
  expect(change.records).toBeLessThan(300)
})

test('a download that the reader breaks off is charged whole, and its repeat with the same key is free', async () => {
  const leave = () =>
    new Promise<string>((resolve, reject) => {
      const asked = request(
        `${api.url}${path}?limit=${rowsStored}`,
        { headers: { ...headersOf(api.keys.organization), 'idempotency-key': 'left' } },
        (answer) => {
          answer.on('error', () => {})
          asked.destroy()
          resolve(answer.headers['x-footfall-charged'] as string)
        },
      )
      asked.once('error', reject)
      asked.end()
    })
  const change = await added(async () => {
    expect(await leave()).toBe(String(rowsStored))
    const again = await api.ask(`${path}?limit=${rowsStored}`, {
      headers: { 'idempotency-key': 'left' },
    })
    expect((await bodyOf(again)).meta).toMatchObject({
      records: rowsStored,
      charged: 0,
    })
  })
  expect(change).toEqual({ entries: 1, records: rowsStored })
})

test('a refused page lets go of what ClickHouse sent', async () => {
  await api.accounts.postgres.query(
    `INSERT INTO usage_limits VALUES ($1, 'events', 100000, NULL)`,
    [api.organization.organizationId],
  )
  const setLimit = (daily: number) =>
    api.accounts.postgres.query('UPDATE usage_limits SET daily_records = $1', [daily])
  const { records } = await ledger()
  const change = await added(async () => {
    // Sixty-four connections to ClickHouse are the most: were they kept, the last requests would wait for ever.
    await setLimit(records + 1)
    for (let round = 0; round < 10; round++) {
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => api.ask(`${path}?limit=${rowsStored}`)),
      )
      for (const answer of answers) expect(answer.status).toBe(429)
    }
    await setLimit(100_000)
    expect((await api.ask(`${path}?limit=1`)).status).toBe(200)
  })
  expect(change).toEqual({ entries: 1, records: 1 })
})

test('an answer of the ledger that was lost is asked for again: charged once, delivered', async () => {
  api.postgresProxy.toLose = 2
  const change = await added(async () => {
    const answer = await api.ask(`${path}?limit=9`)
    expect((await bodyOf(answer)).meta).toMatchObject({ records: 9, charged: 9 })
  })
  expect(change).toEqual({ entries: 1, records: 9 })
})

test('while PostgreSQL is away the answer is 503 busy, and nothing is charged', async () => {
  const change = await added(async () => {
    // Admitted already, so that only the ledger is missing.
    await (await api.ask(`${path}?limit=1&select=event_id`)).text()
    await api.postgresProxy.refuse()
    const answer = await api.ask(`${path}?limit=9`)
    expect([answer.status, (await bodyOf(answer)).error]).toEqual([503, 'busy'])
    await api.postgresProxy.accept()
  })
  expect(change).toEqual({ entries: 1, records: 1 })
})

test('when the ledger never says whether it charged, nothing is answered, and the repeat is free', async () => {
  const ask = () => api.ask(`${path}?limit=9`, { headers: { 'idempotency-key': 'unknown' } })
  const change = await added(async () => {
    api.postgresProxy.toLose = 1_000
    await expect(ask()).rejects.toThrow('fetch failed')
    api.postgresProxy.toLose = 0
    expect((await bodyOf(await ask())).meta).toMatchObject({ records: 9, charged: 0 })
  })
  expect(change).toEqual({ entries: 1, records: 9 })
})
