/** Budgets tell when 50, 80 and 100 % of them are spent: each once a month, to webhooks and by mail. */
import { randomUUID } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { storeMember } from '../../../collector/accounts/members/newMember.ts'
import { noteReachedBudgets } from '../../../collector/billing/budgetNotices.ts'
import { type Organization, openAccounts, requestOf } from './harness.ts'

const it = await openAccounts()
afterAll(() => it.close())

/** Notices since the last call: thresholds to webhooks, subjects by mail. */
async function told({ organizationId }: Organization) {
  await noteReachedBudgets(it.postgres, it.clock.now)
  const { rows: events } = await it.postgres.query<{
    project_id: string | null
    data: Record<string, unknown>
  }>('DELETE FROM outbox_messages WHERE organization_id = $1 RETURNING project_id, data', [
    organizationId,
  ])
  const { rows: mails } = await it.postgres.query<{ recipient: string; subject: string }>(
    'DELETE FROM outbox_mails RETURNING recipient, subject',
  )
  return { events, mails: mails.map(({ recipient, subject }) => `${recipient}: ${subject}`) }
}

async function newOrganization(name: string) {
  const organization = await it.newOrganization()
  await storeMember(it.postgres, {
    memberId: randomUUID(),
    organizationId: organization.organizationId,
    email: `${name}@owner.example`,
    role: 'owner',
    passwordHash: 'none',
  })
  return organization
}

/** Charges as many lookups, a cent each. */
async function spend(organization: Organization, lookups: number, projectKey = false) {
  const [billing] = it.billings(1)
  const charge = await billing!.admit(requestOf(organization, { projectKey }), {
    meter: 'lookup',
    projectId: organization.projectId,
    recordsMax: lookups,
  })
  await charge.settle(lookups)
}

test('of an organization: each threshold once, by mail the highest, and anew in the next month', async () => {
  const organization = await newOrganization('whole')
  await it.postgres.query(
    'INSERT INTO billing_accounts (organization_id, monthly_micros) VALUES ($1, 1000000)',
    [organization.organizationId],
  )
  await spend(organization, 49)
  expect(await told(organization)).toEqual({ events: [], mails: [] })
  await spend(organization, 1)
  expect(await told(organization)).toEqual({
    events: [
      {
        project_id: null,
        data: {
          budget: 'organization',
          project_id: null,
          month: '2026-01',
          threshold: 50,
          currency: 'usd',
          monthly_micros: 1_000_000,
          spent_micros: 500_000,
        },
      },
    ],
    mails: ['whole@owner.example: 50 % of the budget reached'],
  })
  expect(await told(organization)).toEqual({ events: [], mails: [] })
  await spend(organization, 50)
  const both = await told(organization)
  expect(both.events.map(({ data }) => data.threshold).sort()).toEqual([100, 80])
  expect(both.mails).toEqual(['whole@owner.example: 100 % of the budget reached'])
  await expect(spend(organization, 1)).rejects.toMatchObject({ status: 402 })
  expect(await told(organization)).toEqual({ events: [], mails: [] })
  it.clock.now = Date.UTC(2026, 1, 15)
  await spend(organization, 60)
  expect((await told(organization)).events).toMatchObject([
    { data: { month: '2026-02', threshold: 50 } },
  ])
})

test('of a project, and 100 % in each month when not one record more may be had', async () => {
  const organization = await newOrganization('project')
  // Ten lookups cost ten cents; the rest allows none.
  await it.postgres.query('INSERT INTO project_budgets VALUES ($1, 105000)', [
    organization.projectId,
  ])
  await spend(organization, 10, true)
  expect((await told(organization)).events.map(({ data }) => data.threshold).sort()).toEqual([
    50, 80,
  ])
  for (let n = 0; n < 2; n++)
    await expect(spend(organization, 1, true)).rejects.toMatchObject({ status: 402 })
  expect((await told(organization)).events).toMatchObject([
    {
      project_id: organization.projectId,
      data: {
        budget: 'project',
        project_id: organization.projectId,
        threshold: 100,
        spent_micros: 100_000,
      },
    },
  ])
  it.clock.now = Date.UTC(2026, 2, 15)
  await spend(organization, 10, true)
  await told(organization)
  await expect(spend(organization, 1, true)).rejects.toMatchObject({ status: 402 })
  expect((await told(organization)).events).toMatchObject([
    { data: { month: '2026-03', threshold: 100 } },
  ])
})
