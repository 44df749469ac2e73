import { randomUUID } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import {
  dayMs,
  differences,
  firstRecords,
  ledgerOf,
  type Organization,
  openAccounts,
  refusal,
  requestOf,
  take,
} from './harness.ts'

const accounts = await openAccounts()
afterAll(() => accounts.close())
let organization: Organization

const repeatOf = (key: string, more: Parameters<typeof requestOf>[1] = {}) =>
  requestOf(organization, { idempotencyKey: key, ...more })

test('a repeat with the same Idempotency-Key is free for 24 hours, through another process too', async () => {
  organization = await accounts.newOrganization()
  const [billing, another] = accounts.billings(2)
  const before = accounts.clock.now
  expect(await take(billing!, repeatOf('a'), 10)).toBe(10)
  expect(await take(another!, repeatOf('a'), 10)).toBe(0)
  const readEarlier = async () =>
    (await billing!.admit(repeatOf('a'), { meter: 'events', projectId: null, recordsMax: 1 }))
      .repeats
  accounts.clock.now = before + dayMs - 1
  expect(await readEarlier()).not.toBeNull()
  expect(await take(billing!, repeatOf('a'), 10)).toBe(0)
  accounts.clock.now = before + dayMs
  // The window of a read that is charged again is its own.
  expect(await readEarlier()).toBeNull()
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
  expect(await take(billing!, repeatOf('a', { url: '/api/v3/events/web_event?limit=5' }), 1)).toBe(
    1,
  )
  expect(await take(billing!, repeatOf('a', { projectKey: true }), 1)).toBe(1)
  expect(await take(billing!, repeatOf('a', { body: { email: 'one' } }), 1)).toBe(1)
  expect(await take(billing!, repeatOf('a', { body: { email: 'two' } }), 1)).toBe(1)
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
  const charged = await Promise.all(
    accounts.billings(8).map((billing) => take(billing, repeatOf('a'), 10)),
  )
  expect(charged.sort((a, b) => b - a)).toEqual([10, 0, 0, 0, 0, 0, 0, 0])
})

test('what was given back is not paid for: the repeat is charged', async () => {
  organization = await accounts.newOrganization()
  const [billing] = accounts.billings(1)
  const charge = await billing!.admit(repeatOf('a'), {
    meter: 'events',
    projectId: null,
    recordsMax: 1,
  })
  await charge.settle(10, firstRecords(10))
  await charge.refund()
  expect(await take(billing!, repeatOf('a'), 10)).toBe(10)
  expect(await take(billing!, repeatOf('a'), 10)).toBe(0)
  expect(await ledgerOf(accounts, organization)).toMatchObject({ entries: 3, records: 10 })
})

test('what a repeat has had meanwhile is not given back, until that breaks off as well', async () => {
  organization = await accounts.newOrganization()
  const [billing, another] = accounts.billings(2)
  const admit = (from: typeof billing) =>
    from!.admit(repeatOf('a'), { meter: 'events', projectId: null, recordsMax: 1 })
  const [first, second] = [await admit(billing), await admit(another)]
  expect([
    await first.settle(10, firstRecords(10)),
    await second.settle(12, firstRecords(12)),
  ]).toEqual([10, 2])
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
  const repeat = await billing!.admit(repeatOf('a'), {
    meter: 'events',
    projectId: null,
    recordsMax: 1,
  })
  expect(await repeat.settle(13, firstRecords(13))).toBe(3)
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

test('of another answer the records are free that were charged before, and no others', async () => {
  organization = await accounts.newOrganization()
  const [billing] = accounts.billings(1)
  const [minHash, maxHash] = [String(-(2n ** 63n)), String(2n ** 63n - 1n)]
  const answer = (...hashes: string[]) =>
    take(billing!, repeatOf('a'), hashes.length, 'events', null, { hashes })
  expect(await answer('1', '3', '5')).toBe(3)
  expect(await answer('1', '2', '4', '5')).toBe(2)
  expect(await answer('5', '4', '3', '2', '1')).toBe(0)
  expect(await answer('3', maxHash)).toBe(1)
  expect(await answer('1', '2', '3', '4', '5', maxHash)).toBe(0)
  expect(await answer(minHash, '0')).toBe(2)
})

test('what was handed over before an answer broke off stays paid, and its repeat costs the rest', async () => {
  organization = await accounts.newOrganization()
  const [billing] = accounts.billings(1)
  const charge = async (records: number) => {
    const one = await billing!.admit(repeatOf('a'), {
      meter: 'events',
      projectId: null,
      recordsMax: 1,
    })
    return { one, charged: await one.settle(records, firstRecords(records)) }
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

test('of an answer that broke off exactly what was handed over stays paid, whatever came between', async () => {
  organization = await accounts.newOrganization()
  const [billing] = accounts.billings(1)
  const answer = async (...hashes: string[]) => {
    const charge = await billing!.admit(repeatOf('a'), {
      meter: 'events',
      projectId: null,
      recordsMax: 1,
    })
    return { refund: charge.refund, charged: await charge.settle(hashes.length, { hashes }) }
  }
  const first = await answer('1', '2', '3', '4')
  const second = await answer('8', '1', '9', '2', '3', '4')
  expect(second.charged).toBe(2)
  await second.refund(2)
  expect(await ledgerOf(accounts, organization)).toMatchObject({ records: 5 })
  await first.refund(0)
  expect(await ledgerOf(accounts, organization)).toMatchObject({ records: 2 })
  expect((await answer('8', '1')).charged).toBe(0)
  const rest = await answer('8', '1', '9', '2')
  expect(rest.charged).toBe(2)
  await rest.refund(3)
  expect(await ledgerOf(accounts, organization)).toMatchObject({ records: 3 })
  expect((await answer('9')).charged).toBe(0)
  expect((await answer('2', '3', '4')).charged).toBe(3)
  expect(await differences(accounts.postgres)).toEqual([])
})

test('ten thousand records of two answers that share half of them are told apart', async () => {
  organization = await accounts.newOrganization()
  const [billing] = accounts.billings(1)
  const answer = (from: number) =>
    take(billing!, repeatOf('a'), 10_000, 'events', null, {
      hashes: Array.from({ length: 10_000 }, (_, index) => String(from + index)),
    })
  expect(await answer(0)).toBe(10_000)
  expect(await answer(5_000)).toBe(5_000)
  expect(await answer(0)).toBe(0)
})
