import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type Accounts,
  dayMs,
  ledgerOf,
  type Organization,
  openAccounts,
  refusal,
  requestOf,
  take,
} from './harness.ts'

let accounts: Accounts
let organization: Organization
beforeAll(async () => {
  accounts = await openAccounts()
})
afterAll(() => accounts.close())

const repeatOf = (key: string, more: Parameters<typeof requestOf>[1] = {}) =>
  requestOf(organization, { idempotencyKey: key, ...more })

test('a repeat with the same Idempotency-Key is free for 24 hours, through another process too', async () => {
  organization = await accounts.newOrganization()
  const [billing, another] = accounts.billings(2)
  const before = accounts.clock.now
  expect(await take(billing!, repeatOf('a'), 10)).toBe(10)
  expect(await take(another!, repeatOf('a'), 10)).toBe(0)
  accounts.clock.now = before + dayMs - 1
  expect(await take(billing!, repeatOf('a'), 10)).toBe(0)
  accounts.clock.now = before + dayMs
  expect(await take(billing!, repeatOf('a'), 10)).toBe(10)
  expect(await take(billing!, repeatOf('a'), 10)).toBe(0)
  expect(await ledgerOf(accounts, organization)).toMatchObject({ entries: 2, records: 20 })
  accounts.clock.now = before
})

test('another key, another address or another caller’s scope is another request', async () => {
  organization = await accounts.newOrganization()
  const [billing] = accounts.billings(1)
  await take(billing!, repeatOf('a'), 1)
  expect(await take(billing!, repeatOf('b'), 1)).toBe(1)
  expect(await take(billing!, repeatOf('a', { url: '/api/v3/events/web_event?limit=5' }), 1)).toBe(1)
  expect(await take(billing!, repeatOf('a', { projectKey: true }), 1)).toBe(1)
  expect(await take(billing!, { ...repeatOf('a'), body: { email: 'one' } }, 1)).toBe(1)
  expect(await take(billing!, { ...repeatOf('a'), body: { email: 'two' } }, 1)).toBe(1)
  expect(await take(billing!, requestOf(organization), 1)).toBe(1)
})

test('only what is more than was paid for is charged', async () => {
  organization = await accounts.newOrganization()
  const [billing] = accounts.billings(1)
  expect(await take(billing!, repeatOf('a'), 10)).toBe(10)
  expect(await take(billing!, repeatOf('a'), 13)).toBe(3)
  expect(await take(billing!, repeatOf('a'), 13)).toBe(0)
  expect(await ledgerOf(accounts, organization)).toMatchObject({ records: 13 })
})

test('of parallel repeats one is charged', async () => {
  organization = await accounts.newOrganization()
  const charged = await Promise.all(accounts.billings(8).map((billing) => take(billing, repeatOf('a'), 10)))
  expect(charged.sort((a, b) => b - a)).toEqual([10, 0, 0, 0, 0, 0, 0, 0])
})

test('what was given back is not paid for: the repeat is charged', async () => {
  organization = await accounts.newOrganization()
  const [billing] = accounts.billings(1)
  const charge = await billing!.admit(repeatOf('a'), { meter: 'events', projectId: null })
  await charge.settle(10)
  await charge.refund()
  expect(await take(billing!, repeatOf('a'), 10)).toBe(10)
  expect(await take(billing!, repeatOf('a'), 10)).toBe(0)
  expect(await ledgerOf(accounts, organization)).toMatchObject({ entries: 3, records: 10 })
})

test('what a repeat has had meanwhile is not given back, until that breaks off as well', async () => {
  organization = await accounts.newOrganization()
  const [billing, another] = accounts.billings(2)
  const admit = (from: typeof billing) => from!.admit(repeatOf('a'), { meter: 'events', projectId: null })
  const [first, second] = [await admit(billing), await admit(another)]
  expect([await first.settle(10), await second.settle(12)]).toEqual([10, 2])
  await first.refund()
  await first.refund()
  expect(await ledgerOf(accounts, organization)).toMatchObject({ entries: 2, records: 12 })
  await second.refund()
  expect(await ledgerOf(accounts, organization)).toMatchObject({ entries: 4, records: 0 })
  expect(await take(billing!, repeatOf('a'), 10)).toBe(10)
})

test('what a repeat had on top is given back alone', async () => {
  organization = await accounts.newOrganization()
  const [billing] = accounts.billings(1)
  await take(billing!, repeatOf('a'), 10)
  const repeat = await billing!.admit(repeatOf('a'), { meter: 'events', projectId: null })
  expect(await repeat.settle(13)).toBe(3)
  await repeat.refund()
  expect(await ledgerOf(accounts, organization)).toMatchObject({ entries: 3, records: 10 })
})

test('a refused request is not paid for, and what is paid for is had whatever is used up since', async () => {
  organization = await accounts.newOrganization()
  const [billing] = accounts.billings(1)
  await accounts.postgres.query(`INSERT INTO usage_limits VALUES ($1, 'events', 10, NULL)`, [
    organization.organizationId,
  ])
  await refusal(take(billing!, repeatOf('large'), 11))
  await take(billing!, repeatOf('a'), 10)
  await refusal(take(billing!, repeatOf('large'), 5))
  expect(await take(billing!, repeatOf('a'), 10)).toBe(0)
  expect(await refusal(take(billing!, repeatOf('a'), 11))).toMatchObject({ kind: 'limit_reached' })
})

test('an answer without records leaves nothing to repeat', async () => {
  organization = await accounts.newOrganization()
  const [billing] = accounts.billings(1)
  expect(await take(billing!, repeatOf('a', { id: randomUUID() }), 0)).toBe(0)
  expect(await take(billing!, repeatOf('a'), 4)).toBe(4)
})
