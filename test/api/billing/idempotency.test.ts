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
  sameSpan,
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
  await charge.settle(10, { span: sameSpan })
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
  expect([await first.settle(10, { span: sameSpan }), await second.settle(12, { span: sameSpan })]).toEqual([
    10, 2,
  ])
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
  expect(await repeat.settle(13, { span: sameSpan })).toBe(3)
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

test('a repeat on another meter is charged', async () => {
  organization = await accounts.newOrganization()
  const [billing] = accounts.billings(1)
  expect(await take(billing!, repeatOf('a'), 10, 'events')).toBe(10)
  expect(await take(billing!, repeatOf('a'), 10, 'resolution_hem')).toBe(10)
  expect(await take(billing!, repeatOf('a'), 10, 'resolution_hem')).toBe(0)
  expect(await take(billing!, repeatOf('a'), 10, 'events')).toBe(0)
})

test('of another answer the records are free that were in the first, and no others', async () => {
  organization = await accounts.newOrganization()
  const [billing] = accounts.billings(1)
  const answer = (records: number, known: number, first: string) =>
    take(billing!, repeatOf('a'), records, 'events', null, { span: { first, last: 'a' }, known })
  expect(await answer(10, 0, 'k')).toBe(10)
  expect(await answer(10, 7, 'n')).toBe(3)
  expect(await answer(10, 10, 'n')).toBe(0)
  expect(await answer(10, 0, 'z')).toBe(10)
})

test('what was handed over before an answer broke off stays paid, and its repeat costs the rest', async () => {
  organization = await accounts.newOrganization()
  const [billing] = accounts.billings(1)
  const charge = async (records: number) => {
    const one = await billing!.admit(repeatOf('a'), { meter: 'events', projectId: null })
    return { one, charged: await one.settle(records, { span: sameSpan }) }
  }
  const first = await charge(10)
  await first.one.refund(4)
  expect(await ledgerOf(accounts, organization)).toMatchObject({ records: 4 })
  const second = await charge(10)
  expect(second.charged).toBe(6)
  await second.one.refund(7)
  expect(await ledgerOf(accounts, organization)).toMatchObject({ records: 7 })
  expect((await charge(10)).charged).toBe(3)
  expect((await charge(10)).charged).toBe(0)
  expect(await ledgerOf(accounts, organization)).toMatchObject({ records: 10 })
})
