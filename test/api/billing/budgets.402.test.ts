import { randomUUID } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import type { Organization } from './harness.ts'
import {
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

/** An organization where a lookup costs a cent, with this budget and perhaps one of its project. */
async function withBudgets(
  organizationCents: number | null,
  projectCents?: number,
): Promise<Organization> {
  const organization = await accounts.newOrganization()
  await setPrice(accounts, organization, 'lookup', 10_000_000)
  await accounts.postgres.query(
    'INSERT INTO billing_accounts (organization_id, monthly_micros) VALUES ($1, $2)',
    [organization.organizationId, organizationCents === null ? null : organizationCents * 10_000],
  )
  if (projectCents !== undefined) {
    await accounts.postgres.query('INSERT INTO project_budgets VALUES ($1, $2)', [
      organization.projectId,
      projectCents * 10_000,
    ])
  }
  return organization
}

test('what the budget covers to the last record is had, and not one record more', async () => {
  const organization = await withBudgets(10)
  const [billing] = accounts.billings(1)
  expect(await take(billing!, requestOf(organization), 6, 'lookup')).toBe(6)
  expect(await refusal(take(billing!, requestOf(organization), 5, 'lookup'))).toMatchObject({
    status: 402,
  })
  expect(await take(billing!, requestOf(organization), 4, 'lookup')).toBe(4)
  expect(await ledgerOf(accounts, organization)).toMatchObject({ entries: 2, micros: 100_000 })
})

test('402 tells an organization key the budget, what is spent and when it starts anew', async () => {
  const organization = await withBudgets(10)
  const [billing] = accounts.billings(1)
  await take(billing!, requestOf(organization), 8, 'lookup')
  expect(await refusal(take(billing!, requestOf(organization), 3, 'lookup'))).toEqual({
    status: 402,
    error: 'budget_exceeded',
    message: 'The organization’s budget of this month does not cover this request.',
    budget: 'organization',
    monthly_micros: 100_000,
    spent_micros: 80_000,
    currency: 'usd',
    resets_at: '2026-02-01T00:00:00.000Z',
    headers: {},
  })
})

test('a used up budget refuses before the work', async () => {
  const organization = await withBudgets(2)
  const [billing, another] = accounts.billings(2)
  await take(billing!, requestOf(organization), 2, 'lookup')
  const admitted = another!.admit(requestOf(organization), {
    meter: 'lookup',
    projectId: null,
    recordsMax: 1,
  })
  expect(await refusal(admitted)).toMatchObject({ status: 402, spent_micros: 20_000 })
})

test('a project key is bound by its project’s budget as well as the organization’s', async () => {
  const organization = await withBudgets(10, 3)
  const [billing] = accounts.billings(1)
  const request = () => requestOf(organization, { projectKey: true })
  await take(billing!, request(), 2, 'lookup')
  expect(await refusal(take(billing!, request(), 2, 'lookup'))).toMatchObject({
    status: 402,
    budget: 'project',
    monthly_micros: 30_000,
    spent_micros: 20_000,
  })
  // The organization's own keys are not bound by it, also where they read this project.
  expect(await take(billing!, requestOf(organization), 7, 'lookup', organization.projectId)).toBe(7)
})

test('a project key’s 402 by the organization’s budget omits the organization’s figures', async () => {
  const organization = await withBudgets(10, 50)
  const [billing] = accounts.billings(1)
  await take(billing!, requestOf(organization), 9, 'lookup')
  const told = await refusal(
    take(billing!, requestOf(organization, { projectKey: true }), 2, 'lookup'),
  )
  expect(told).toEqual({
    status: 402,
    error: 'budget_exceeded',
    message: 'The organization’s budget of this month does not cover this request.',
    budget: 'organization',
    resets_at: '2026-02-01T00:00:00.000Z',
    headers: {},
  })
})

test('a new month has its whole budget', async () => {
  const organization = await withBudgets(5)
  const [billing] = accounts.billings(1)
  const before = accounts.clock.now
  await take(billing!, requestOf(organization), 5, 'lookup')
  accounts.clock.now = Date.UTC(2026, 1, 1) - 1
  await refusal(take(billing!, requestOf(organization), 1, 'lookup'))
  accounts.clock.now = Date.UTC(2026, 1, 1)
  expect(await take(billing!, requestOf(organization), 5, 'lookup')).toBe(5)
  accounts.clock.now = before
})

test('what costs nothing is not held up by a used up budget', async () => {
  const organization = await withBudgets(0)
  await setPrice(accounts, organization, 'events', 100_000, 50)
  const [billing] = accounts.billings(1)
  expect(await take(billing!, requestOf(organization), 50)).toBe(50)
  expect(await refusal(take(billing!, requestOf(organization), 1))).toMatchObject({ status: 402 })
})

test.each([
  ['organization', 57, undefined],
  ['project', 1_000, 57],
] as const)(
  '100 parallel requests through four processes overspend the %s budget by nothing',
  async (_of, organizationCents, projectCents) => {
    const organization = await withBudgets(organizationCents, projectCents)
    const billings = accounts.billings(4)
    // All are let in before the first is charged.
    const charges = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        billings[n % 4]!.admit(requestOf(organization, { projectKey: true, id: randomUUID() }), {
          meter: 'lookup',
          projectId: null,
          recordsMax: 5,
        }),
      ),
    )
    const outcomes = await Promise.allSettled(
      charges.map((charge, n) => charge.settle(1 + (n % 5))),
    )
    const charged = outcomes.reduce(
      (sum, outcome) => sum + (outcome.status === 'fulfilled' ? outcome.value : 0),
      0,
    )
    // The refused request would not have fitted: one record costs a cent, so the end is reached exactly or
    // missed by one.
    expect(charged).toBeLessThanOrEqual(57)
    expect(charged).toBeGreaterThan(57 - 5)
    expect(await ledgerOf(accounts, organization)).toMatchObject({
      records: charged,
      micros: charged * 10_000,
    })
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ status: 402 })
    }
    expect(await differences(accounts.postgres)).toEqual([])
  },
)
