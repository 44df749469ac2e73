import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { ApiError } from '../../../collector/api/http/errors.ts'
import { meters } from '../../../collector/billing/meters.ts'
import { wholeOrganization } from '../../../collector/billing/usageQuery.ts'
import { randomRuns } from '../../harness/thorough.ts'
import {
  dayMs,
  differences,
  ledgerOf,
  openAccounts,
  refusal,
  requestOf,
  setPrice,
  take,
} from './harness.ts'

const accounts = await openAccounts()
afterAll(() => accounts.close())

/** Where what each caller was charged for is not the sum of the ledger. */
async function differencesByCaller(): Promise<unknown[]> {
  const { rows } = await accounts.postgres.query(
    `SELECT * FROM (
       SELECT organization_id, day, caller_id, coalesce(project_id, $1) AS project_id, meter,
         sum(records) AS records, sum(free_records) AS free_records, sum(amount_micros) AS amount_micros
       FROM ledger GROUP BY 1, 2, 3, 4, 5
     ) AS entries FULL JOIN usage_by_caller AS sums USING (organization_id, day, caller_id, project_id, meter)
     WHERE (entries.records, entries.free_records, entries.amount_micros)
       IS DISTINCT FROM (sums.records::numeric, sums.free_records::numeric, sums.amount_micros::numeric)`,
    [wholeOrganization],
  )
  return rows
}

test('the sum of the ledger is the totals, whatever is charged, refused, repeated and given back, in whatever order', async () => {
  const organizations = [await accounts.newOrganization(), await accounts.newOrganization()]
  const start = accounts.clock.now
  for (const organization of organizations) {
    await setPrice(accounts, organization, 'events', 3_000, 150)
    await accounts.postgres.query(
      `INSERT INTO usage_limits VALUES ($1, 'events', 2000, 5000), ($1, 'lookup', 300, NULL)`,
      [organization.organizationId],
    )
    await accounts.postgres.query(
      `INSERT INTO billing_accounts (organization_id, monthly_micros) VALUES ($1, 9000000)`,
      [organization.organizationId],
    )
  }
  const billings = accounts.billings(3)
  const step = fc.record({
    billing: fc.nat(2),
    organization: fc.nat(1),
    records: fc.nat(200),
    meter: fc.constantFrom(...meters),
    projectKey: fc.boolean(),
    inProject: fc.boolean(),
    key: fc.option(fc.nat(3)),
    refund: fc.option(fc.nat(200)),
    advanceMs: fc.oneof(fc.constant(0), fc.nat(dayMs)),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { maxLength: 8 }),
      async (rounds) => {
        for (const together of rounds) {
          await Promise.all(
            together.map(
              async ({
                billing,
                organization,
                records,
                meter,
                projectKey,
                inProject,
                key,
                refund,
              }) => {
                const owner = organizations[organization]!
                const request = requestOf(owner, {
                  projectKey,
                  ...(key !== null && { idempotencyKey: `key-${key}` }),
                })
                const projectId = inProject ? owner.projectId : null
                try {
                  const charge = await billings[billing]!.admit(request, {
                    meter,
                    projectId,
                    recordsMax: 1,
                  })
                  expect(await charge.settle(records)).toBeLessThanOrEqual(records)
                  if (refund !== null) await charge.refund(Math.min(refund, records))
                } catch (error) {
                  if (!(error instanceof ApiError)) throw error
                }
              },
            ),
          )
          accounts.clock.now += together[0]!.advanceMs
          expect(await differences(accounts.postgres)).toEqual([])
          expect(await differencesByCaller()).toEqual([])
        }
      },
    ),
    randomRuns(15, 40),
  )
  const sums = await Promise.all(
    organizations.map((organization) => ledgerOf(accounts, organization)),
  )
  expect(sums.reduce((entries, sum) => entries + sum.entries, 0)).toBeGreaterThan(20)
  accounts.clock.now = start
})

test('a response is in the ledger with its request, organization, project, key, meter, records, price and UTC day', async () => {
  const organization = await accounts.newOrganization()
  await setPrice(accounts, organization, 'resolution_hem', 2_000_000)
  const [billing] = accounts.billings(1)
  const request = requestOf(organization, { projectKey: true })
  expect(await take(billing!, request, 7, 'resolution_hem')).toBe(7)
  const { rows } = await accounts.postgres.query(
    `SELECT request_id, kind, organization_id, project_id, caller_id, meter, records::int, free_records::int,
       amount_micros::int, day::text FROM ledger WHERE organization_id = $1`,
    [organization.organizationId],
  )
  expect(rows).toEqual([
    {
      request_id: request.requestId,
      kind: 'charge',
      organization_id: organization.organizationId,
      project_id: organization.projectId,
      caller_id: request.callerId,
      meter: 'resolution_hem',
      records: 7,
      free_records: 0,
      amount_micros: 14_000,
      day: '2026-01-15',
    },
  ])
})

test.each([0, 3])(
  'the same request_id is charged once, through however many processes, and a refund after %i records counts once',
  async (handed) => {
    const organization = await accounts.newOrganization()
    const id = randomUUID()
    const charges = await Promise.all(
      accounts.billings(4).map(async (billing) => {
        const charge = await billing.admit(requestOf(organization, { id }), {
          meter: 'lookup',
          projectId: null,
          recordsMax: 5,
        })
        expect(await charge.settle(5)).toBe(5)
        return charge
      }),
    )
    expect(await ledgerOf(accounts, organization)).toMatchObject({ entries: 1, records: 5 })
    await Promise.all(charges.map((charge) => charge.refund(handed)))
    expect(await ledgerOf(accounts, organization)).toMatchObject({
      entries: 2,
      records: handed,
      micros: handed * 10_000,
    })
    expect(await differences(accounts.postgres)).toEqual([])
  },
)

test('empty results and test keys are not charged', async () => {
  const organization = await accounts.newOrganization()
  const [billing] = accounts.billings(1)
  expect(await take(billing!, requestOf(organization), 0)).toBe(0)
  expect(await take(billing!, requestOf(organization, { mode: 'test' }), 100)).toBe(0)
  expect(await ledgerOf(accounts, organization)).toMatchObject({ entries: 0 })
})

test('what an error or an answer that breaks off on our side never handed over is refunded; one the caller breaks off is not', async () => {
  const organization = await accounts.newOrganization()
  const [billing] = accounts.billings(1)
  const admit = (signal?: AbortSignal) =>
    billing!.admit(requestOf(organization), {
      meter: 'events',
      projectId: null,
      recordsMax: 1,
      ...(signal && { signal }),
    })
  async function* breakingOff() {
    yield { bytes: Buffer.from('one,two,'), records: 2 }
    yield { bytes: Buffer.from('three,'), records: 1 }
    throw new Error('the store is gone')
  }
  const readAll = async (rows: AsyncIterable<Buffer>) => {
    for await (const _ of rows);
  }

  const broken = await admit()
  await broken.settle(10)
  await expect(readAll(broken.deliver(breakingOff()))).rejects.toThrow('the store is gone')
  await billing!.close()
  expect(await ledgerOf(accounts, organization)).toMatchObject({ entries: 2, records: 3 })

  const controller = new AbortController()
  const left = await admit(controller.signal)
  await left.settle(20)
  controller.abort()
  await expect(readAll(left.deliver(breakingOff()))).rejects.toThrow('the store is gone')
  await billing!.close()
  expect(await ledgerOf(accounts, organization)).toMatchObject({ entries: 3, records: 23 })

  const early = new AbortController()
  const gone = await admit(early.signal)
  early.abort()
  await expect(gone.settle(30)).rejects.toThrow('the client disconnected')
  expect(await ledgerOf(accounts, organization)).toMatchObject({ entries: 3, records: 23 })
})

test('a caller who leaves while their answer is being charged is refunded', async () => {
  const organization = await accounts.newOrganization()
  const [billing] = accounts.billings(1)
  const caller = new AbortController()
  const charge = await billing!.admit(requestOf(organization), {
    meter: 'events',
    projectId: null,
    recordsMax: 1,
    signal: caller.signal,
  })
  const settling = charge.settle(40)
  caller.abort()
  await expect(settling).rejects.toThrow('the client disconnected')
  expect(await ledgerOf(accounts, organization)).toMatchObject({ entries: 2, records: 0 })
})

test('a partial refund is what the fewer records would have cost: the free ones stay used first', async () => {
  const organization = await accounts.newOrganization()
  await setPrice(accounts, organization, 'events', 3_000, 10)
  const [billing] = accounts.billings(1)
  for (const [handed, left] of [
    [15, { records: 15, free: 10, micros: 15 }],
    [4, { records: 4, free: 4, micros: 0 }],
    [25, { records: 25, free: 10, micros: 45 }],
  ] as const) {
    const charge = await billing!.admit(requestOf(organization), {
      meter: 'events',
      projectId: null,
      recordsMax: 1,
    })
    await charge.settle(25)
    await charge.refund(handed)
    expect(await ledgerOf(accounts, organization)).toMatchObject(left)
    await accounts.postgres.query('DELETE FROM ledger WHERE organization_id = $1', [
      organization.organizationId,
    ])
    await accounts.postgres.query('DELETE FROM usage_totals WHERE organization_id = $1', [
      organization.organizationId,
    ])
  }
})

test('days and months are UTC: the last millisecond of a month is in it, the next in the next', async () => {
  const organization = await accounts.newOrganization()
  const [billing] = accounts.billings(1)
  const before = accounts.clock.now
  const edge = Date.UTC(2028, 2, 1)
  accounts.clock.now = edge - 1
  await take(billing!, requestOf(organization), 3)
  accounts.clock.now = edge
  await take(billing!, requestOf(organization), 4)
  accounts.clock.now = before
  const { rows } = await accounts.postgres.query(
    `SELECT period, starts::text, records::int FROM usage_totals WHERE organization_id = $1 ORDER BY period, starts`,
    [organization.organizationId],
  )
  expect(rows).toEqual([
    { period: 'day', starts: '2028-02-29', records: 3 },
    { period: 'day', starts: '2028-03-01', records: 4 },
    { period: 'month', starts: '2028-02-01', records: 3 },
    { period: 'month', starts: '2028-03-01', records: 4 },
  ])
})

test('free allowances are used up first, each month anew, and what is above costs whole micros', async () => {
  const organization = await accounts.newOrganization()
  await setPrice(accounts, organization, 'lookup', 7_000, 100)
  const [billing] = accounts.billings(1)
  const before = accounts.clock.now
  await take(billing!, requestOf(organization), 60, 'lookup')
  expect(await ledgerOf(accounts, organization)).toMatchObject({ records: 60, free: 60, micros: 0 })
  await take(billing!, requestOf(organization), 60, 'lookup')
  expect(await ledgerOf(accounts, organization)).toMatchObject({
    records: 120,
    free: 100,
    micros: 20 * 7,
  })
  accounts.clock.now = Date.UTC(2026, 1, 1)
  await take(billing!, requestOf(organization), 60, 'lookup')
  expect(await ledgerOf(accounts, organization)).toMatchObject({
    records: 180,
    free: 160,
    micros: 20 * 7,
  })
  accounts.clock.now = before
})

test('an Idempotency-Key that is none is refused by its name', async () => {
  const organization = await accounts.newOrganization()
  const [billing] = accounts.billings(1)
  for (const idempotencyKey of ['', 'with blank', 'ü', 'x'.repeat(256)]) {
    const taken = async () => take(billing!, requestOf(organization, { idempotencyKey }), 1)
    expect(await refusal(taken())).toMatchObject({ status: 400, parameter: 'Idempotency-Key' })
  }
})
