import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { billingQueues } from '../../../collector/billing/billingJobs.ts'
import { noteReports, readUnsentReports, sendReports } from '../../../collector/billing/reports.ts'
import { openStripe, type TellStripe } from '../../../collector/billing/stripe.ts'
import { seededRandom } from '../../../collector/platform/seededRandom.ts'
import { jobOf } from '../../harness/job.ts'
import { startFakeStripe, type Treatment } from './fakeStripe.ts'
import {
  type Accounts,
  dayMs,
  type Organization,
  openAccounts,
  requestOf,
  setPrice,
  take,
} from './harness.ts'

let accounts: Accounts
let stripe: Awaited<ReturnType<typeof startFakeStripe>>
let tell: TellStripe
let organization: Organization
const hourMs = 3_600_000

beforeAll(async () => {
  stripe = await startFakeStripe()
  tell = openStripe('sk_test_1', stripe.url, 200)
})
afterAll(() => stripe.close())
beforeEach(async () => {
  accounts = await openAccounts()
  organization = await newCustomer('cus_1')
  stripe.taken.clear()
  stripe.asked.length = 0
  stripe.treat = () => 'take'
})
afterEach(() => accounts.close())

async function newCustomer(customer: string): Promise<Organization> {
  const made = await accounts.newOrganization()
  await accounts.postgres.query(
    'INSERT INTO billing_accounts (organization_id, stripe_customer_id) VALUES ($1, $2)',
    [made.organizationId, customer],
  )
  return made
}

const now = () => accounts.clock.now
const report = async () => {
  await noteReports(accounts.postgres, now())
  await sendReports(accounts.postgres, tell, now, { warn: () => {} })
}
const events = () => [...stripe.taken.values()]
const unsent = () => readUnsentReports(accounts.postgres, now())
const use = (records: number, meter: Parameters<typeof take>[3] = 'lookup') =>
  take(accounts.billings(1)[0]!, requestOf(organization), records, meter)

test('what was used beyond the free allowance is told once, by meter, with the time it was used', async () => {
  await setPrice(accounts, organization, 'events', 1_000, 10)
  await use(12, 'events')
  await use(5)
  await report()
  await report()
  expect(events().sort((a, b) => a.value - b.value)).toEqual([
    { event_name: 'footfall_events', customer: 'cus_1', value: 2, timestamp: now() / 1000 },
    { event_name: 'footfall_lookup', customer: 'cus_1', value: 5, timestamp: now() / 1000 },
  ])
  await use(3)
  await report()
  expect(events()).toContainEqual(
    expect.objectContaining({ event_name: 'footfall_lookup', value: 3 }),
  )
  expect(stripe.asked).toHaveLength(3)
})

test('usage of the last minutes of a month is told as of that month', async () => {
  accounts.clock.now = Date.UTC(2026, 0, 31, 23, 59, 50)
  await use(4)
  accounts.clock.now = Date.UTC(2026, 1, 1, 0, 0, 30)
  await use(6)
  await report()
  expect(
    events().map(({ value, timestamp }) => [value, new Date(timestamp * 1000).toISOString()]),
  ).toEqual([
    [4, '2026-01-31T23:59:59.000Z'],
    [6, '2026-02-01T00:00:30.000Z'],
  ])
})

test('an organization without a customer is not told of until it has one, then with all it used', async () => {
  organization = await accounts.newOrganization()
  await use(5)
  await report()
  expect(stripe.asked).toEqual([])
  await accounts.postgres.query(
    'UPDATE billing_accounts SET stripe_customer_id = $2 WHERE organization_id = $1',
    [organization.organizationId, 'cus_late'],
  )
  await report()
  expect(events()).toMatchObject([{ customer: 'cus_late', value: 5 }])
})

test('what is given back after it was told is taken off what comes next', async () => {
  const [billing] = accounts.billings(1)
  const charge = await billing!.admit(requestOf(organization), {
    meter: 'lookup',
    projectId: null,
    recordsMax: 1,
  })
  await charge.settle(10)
  await report()
  await charge.refund()
  await report()
  await use(4)
  await report()
  await use(9)
  await report()
  expect(events().map(({ value }) => value)).toEqual([10, 3])
})

test('a lost answer: the same identifier again, and Stripe’s "already exists" is success', async () => {
  await use(5)
  stripe.treat = () => 'lose'
  await report()
  expect(new Set(stripe.asked).size).toBe(1)
  expect(stripe.asked).toHaveLength(2)
  expect(events()).toMatchObject([{ value: 5 }])
  expect(await unsent()).toEqual([])
})

test.each(['fail', 'busy', 'refuse', 'hang'] satisfies Treatment[])(
  'while Stripe answers with "%s", it is asked ever more seldom, and told when it is back',
  async (treatment) => {
    await use(5)
    stripe.treat = () => treatment
    const start = now()
    for (; now() < start + 3 * hourMs; accounts.clock.now += 60_000) await report()
    expect(stripe.asked.length).toBeGreaterThan(5)
    expect(stripe.asked.length).toBeLessThan(15)
    stripe.treat = () => 'take'
    accounts.clock.now += hourMs
    await report()
    expect(events()).toMatchObject([{ value: 5 }])
    expect(await unsent()).toEqual([])
  },
)

test('what may have arrived is not sent again when Stripe would not recognise it any more', async () => {
  await use(5)
  stripe.treat = () => 'hang'
  await report()
  stripe.treat = () => 'take'
  accounts.clock.now += 23 * hourMs
  await report()
  expect(stripe.asked).toHaveLength(1)
  expect(await unsent()).toMatchObject([{ is_left: true }])
})

test('what Stripe has surely refused can be sent for as long as it takes', async () => {
  await use(5)
  stripe.treat = () => 'refuse'
  await report()
  stripe.treat = () => 'take'
  accounts.clock.now += 20 * dayMs
  await report()
  expect(events()).toMatchObject([{ value: 5 }])
})

test('a process that dies between Stripe’s answer and its own note changes nothing', async () => {
  await use(5)
  await noteReports(accounts.postgres, now())
  const dies: TellStripe = async (what) => {
    await tell(what)
    throw new Error('killed')
  }
  await expect(sendReports(accounts.postgres, dies, now, { warn: () => {} })).rejects.toThrow(
    'killed',
  )
  await report()
  expect(stripe.asked).toHaveLength(1)
  accounts.clock.now += 61_000
  await report()
  expect(stripe.asked).toHaveLength(2)
  expect(events()).toMatchObject([{ value: 5 }])
  expect(await unsent()).toEqual([])
})

test('several primaries and a Stripe that fails at random tell every record exactly once', async () => {
  const random = seededRandom(20_260_115)
  const others = [organization, await newCustomer('cus_2'), await newCustomer('cus_3')]
  const treatments: Treatment[] = ['take', 'take', 'fail', 'busy', 'lose', 'hang']
  stripe.treat = () => treatments[random.integer(0, treatments.length - 1)]!
  const [billing] = accounts.billings(1)
  const used = new Map<string, number>()
  for (let round = 0; round < 12; round++) {
    for (const [index, one] of others.entries()) {
      const meter = random.chance(0.5) ? 'lookup' : 'contact'
      const records = random.integer(1, 50)
      await take(billing!, requestOf(one), records, meter)
      const key = `cus_${index + 1} footfall_${meter}`
      used.set(key, (used.get(key) ?? 0) + records)
    }
    accounts.clock.now += 60_000
    await Promise.all([report(), report()])
  }
  stripe.treat = () => 'take'
  for (let round = 0; round < 3; round++) {
    accounts.clock.now += hourMs
    await report()
  }
  const told = new Map<string, number>()
  for (const { customer, event_name, value } of events()) {
    const key = `${customer} ${event_name}`
    told.set(key, (told.get(key) ?? 0) + value)
  }
  expect(told).toEqual(used)
  expect(await unsent()).toEqual([])
})

test('without a key nothing is noted or sent; requests are forgotten after their 24 hours', async () => {
  const [billing] = accounts.billings(1)
  await take(billing!, requestOf(organization, { idempotencyKey: 'a' }), 5)
  accounts.clock.now += dayMs - 1
  await take(billing!, requestOf(organization, { idempotencyKey: 'b' }), 5)
  accounts.clock.now += 1
  const queues = billingQueues({
    postgres: accounts.postgres,
    tell: null,
    now,
    log: { warn: (_fields, message) => expect.unreachable(message) },
  })
  for (const queue of queues) await queue.run(jobOf(null))
  const count = async (table: string) =>
    (await accounts.postgres.query(`SELECT 1 FROM ${table}`)).rowCount
  expect([await count('usage_reports'), await count('idempotent_charges')]).toEqual([0, 1])
  expect(stripe.asked).toEqual([])
})
