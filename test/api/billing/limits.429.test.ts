import { randomUUID } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import {
  differences,
  firstRecords,
  ledgerOf,
  type Organization,
  openAccounts,
  refusal,
  requestOf,
  take,
} from './harness.ts'

// Noon of 15 January 2026.
const accounts = await openAccounts()
afterAll(() => accounts.close())

async function withLimits(daily: number | null, monthly: number | null): Promise<Organization> {
  const organization = await accounts.newOrganization()
  await accounts.postgres.query(`INSERT INTO usage_limits VALUES ($1, 'events', $2, $3)`, [
    organization.organizationId,
    daily,
    monthly,
  ])
  return organization
}

test('limit_reached of a day: again from midnight UTC, which Retry-After says in seconds', async () => {
  const organization = await withLimits(10, null)
  const [billing] = accounts.billings(1)
  await take(billing!, requestOf(organization), 7)
  expect(await refusal(take(billing!, requestOf(organization), 4))).toEqual({
    status: 429,
    error: 'platform_cap_exceeded',
    kind: 'limit_reached',
    message: expect.stringContaining('10 events records a day'),
    meter: 'events',
    period: 'day',
    limit_records: 10,
    used_records: 7,
    resets_at: '2026-01-16T00:00:00.000Z',
    headers: { 'retry-after': String(12 * 3600) },
  })
  expect(await take(billing!, requestOf(organization), 3)).toBe(3)

  const before = accounts.clock.now
  accounts.clock.now = Date.UTC(2026, 0, 16) - 1
  expect(await refusal(take(billing!, requestOf(organization), 1))).toMatchObject({
    headers: { 'retry-after': '1' },
  })
  accounts.clock.now = Date.UTC(2026, 0, 16)
  expect(await take(billing!, requestOf(organization), 10)).toBe(10)
  accounts.clock.now = before
})

test('limit_reached of a month: again from the 1st of next month UTC', async () => {
  const organization = await withLimits(8, 10)
  const [billing] = accounts.billings(1)
  const before = accounts.clock.now
  await take(billing!, requestOf(organization), 8)
  accounts.clock.now = Date.UTC(2026, 0, 31, 23, 59, 30)
  await take(billing!, requestOf(organization), 2)
  // The day has room, the month has not.
  expect(await refusal(take(billing!, requestOf(organization), 1))).toMatchObject({
    status: 429,
    kind: 'limit_reached',
    period: 'month',
    used_records: 10,
    resets_at: '2026-02-01T00:00:00.000Z',
    headers: { 'retry-after': '30' },
  })
  accounts.clock.now = Date.UTC(2026, 1, 1)
  expect(await take(billing!, requestOf(organization), 8)).toBe(8)
  accounts.clock.now = before
})

test('where day and month are used up, the month is told: midnight would not help', async () => {
  const organization = await withLimits(5, 5)
  const [billing] = accounts.billings(1)
  await take(billing!, requestOf(organization), 5)
  expect(await refusal(take(billing!, requestOf(organization), 1))).toMatchObject({
    period: 'month',
  })
})

test('request_too_large: this request alone is above the limit, and no time is told', async () => {
  const organization = await withLimits(10, 100)
  const [billing] = accounts.billings(1)
  const told = await refusal(take(billing!, requestOf(organization), 11))
  expect(told).toEqual({
    status: 429,
    error: 'platform_cap_exceeded',
    kind: 'request_too_large',
    message: expect.stringContaining('Send a smaller one'),
    meter: 'events',
    period: 'day',
    limit_records: 10,
    used_records: 0,
    headers: {},
  })
  expect(await take(billing!, requestOf(organization), 10)).toBe(10)
})

test('a limit of nothing cannot be waited for', async () => {
  const organization = await withLimits(0, null)
  const [billing] = accounts.billings(1)
  expect(await refusal(take(billing!, requestOf(organization), 1))).toMatchObject({
    kind: 'request_too_large',
  })
})

test('shut_off: usage is paused for the account, until it is not', async () => {
  const organization = await accounts.newOrganization()
  const [billing] = accounts.billings(1)
  await take(billing!, requestOf(organization), 1)
  const pause = (at: string | null) =>
    accounts.postgres.query(
      'UPDATE billing_accounts SET shut_off_at = $2 WHERE organization_id = $1',
      [organization.organizationId, at],
    )
  await pause('2026-01-15')
  // Whatever was remembered of earlier requests, nothing is charged from now on.
  expect(await refusal(take(billing!, requestOf(organization), 1))).toEqual({
    status: 429,
    error: 'platform_cap_exceeded',
    kind: 'shut_off',
    message: expect.stringContaining('paused'),
    headers: {},
  })
  await pause(null)
  expect(await take(billing!, requestOf(organization), 1)).toBe(1)
})

test('a used up limit refuses before the work, and only its own meter', async () => {
  const organization = await withLimits(1, null)
  const [billing, another] = accounts.billings(2)
  await take(billing!, requestOf(organization), 1)
  const admit = (meter: 'events' | 'contact') =>
    another!.admit(requestOf(organization), { meter, projectId: null, recordsMax: 1 })
  expect(await refusal(admit('events'))).toMatchObject({ kind: 'limit_reached' })
  await admit('contact')
})

test('the rows decide where the meter is known only with them', async () => {
  const organization = await withLimits(5, null)
  const [billing] = accounts.billings(1)
  const charge = await billing!.admit(requestOf(organization), {
    meter: 'resolution_full_profile',
    projectId: null,
    recordsMax: 6,
  })
  expect(await refusal(charge.settle(6, { meter: 'events' }))).toMatchObject({
    kind: 'request_too_large',
    meter: 'events',
  })
})

test('100 parallel requests through four processes go over a limit by nothing', async () => {
  const organization = await withLimits(163, 1_000)
  const billings = accounts.billings(4)
  const charges = await Promise.all(
    Array.from({ length: 100 }, (_, n) =>
      billings[n % 4]!.admit(requestOf(organization, { id: randomUUID() }), {
        meter: 'events',
        projectId: null,
        recordsMax: 10,
      }),
    ),
  )
  const outcomes = await Promise.allSettled(charges.map((charge) => charge.settle(10)))
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(16)
  expect(await ledgerOf(accounts, organization)).toMatchObject({ entries: 16, records: 160 })
  expect(await differences(accounts.postgres)).toEqual([])
})

test('a refusal does not depend on the number of records, even if the limit changed during the request', async () => {
  const told = async (records: number) => {
    const organization = await withLimits(null, null)
    const [billing] = accounts.billings(1)
    const charge = await billing!.admit(requestOf(organization), {
      meter: 'events',
      projectId: null,
      recordsMax: 500,
    })
    await accounts.postgres.query(
      'UPDATE usage_limits SET daily_records = 20, monthly_records = 40 WHERE organization_id = $1',
      [organization.organizationId],
    )
    return refusal(charge.settle(records, firstRecords(records)))
  }
  const one = await told(1)
  expect(one).toMatchObject({ status: 429, kind: 'request_too_large', limit_records: 40 })
  for (const records of [30, 50]) expect(await told(records)).toEqual(one)
})

test('a repeat with its Idempotency-Key is never refused, whatever is used up, while it has no further record', async () => {
  const organization = await withLimits(10, null)
  const [billing] = accounts.billings(1)
  const repeat = () => requestOf(organization, { idempotencyKey: 'once' })
  const read = async (records: number) => {
    const usage = { meter: 'events', projectId: null, recordsMax: 10 } as const
    const charge = await billing!.admit(repeat(), usage)
    return charge.settle(records, firstRecords(records))
  }
  expect(await read(3)).toBe(3)
  await take(billing!, requestOf(organization), 7)
  for (const records of [3, 2, 3]) expect(await read(records)).toBe(0)
  expect(await refusal(read(4))).toMatchObject({ kind: 'limit_reached' })
  // The charged records stay free after the refusal.
  expect(await read(3)).toBe(0)
})
