import { randomUUID } from 'node:crypto'
import { ApiError } from '../../../collector/api/http/errors.ts'
import { type Billing, createBilling } from '../../../collector/billing/billing.ts'
import type { Answered, Caller } from '../../../collector/billing/charge.ts'
import { callerOf } from '../../../collector/billing/chargedRequest.ts'
import type { Meter } from '../../../collector/billing/meters.ts'
import { openPostgres, type Postgres } from '../../../collector/platform/postgres/pool.ts'
import { newPostgresDatabase } from '../../harness/databases.ts'
import { storeOrganization, storeProject } from '../../harness/owners.ts'

export const dayMs = 86_400_000

/** An organization with one project, and a clock that stands still until it is set. */
export interface Accounts {
  postgres: Postgres
  databaseUrl: string
  clock: { now: number }
  /** `count` of them do not know of each other, like so many processes. */
  billings(count: number): Billing[]
  newOrganization(): Promise<Organization>
  close(): Promise<void>
}

export interface Organization {
  organizationId: string
  projectId: string
}

export async function openAccounts(now = Date.UTC(2026, 0, 15, 12)): Promise<Accounts> {
  const databaseUrl = await newPostgresDatabase()
  const postgres = openPostgres(databaseUrl, () => {})
  const clock = { now }
  const pools: Postgres[] = []
  return {
    postgres,
    databaseUrl,
    clock,
    billings: (count) =>
      Array.from({ length: count }, () => {
        const pool = openPostgres(databaseUrl, () => {})
        pools.push(pool)
        return createBilling({ postgres: pool, log: console, now: () => clock.now })
      }),
    async newOrganization() {
      const [organizationId, projectId] = [randomUUID(), randomUUID()]
      await storeOrganization(postgres, organizationId, 'O')
      await storeProject(postgres, projectId, organizationId, 'P')
      return { organizationId, projectId }
    },
    async close() {
      await Promise.all([postgres, ...pools].map((pool) => pool.end()))
    },
  }
}

/** A request of an organization's key, or with `projectKey` of its project's key. */
export const requestOf = (
  { organizationId, projectId }: Organization,
  more: {
    projectKey?: boolean
    idempotencyKey?: string
    id?: string
    url?: string
    mode?: 'live' | 'test'
    body?: unknown
  } = {},
): Caller =>
  callerOf({
    id: more.id ?? randomUUID(),
    method: 'GET',
    url: more.url ?? '/api/v3/events/web_event',
    body: more.body,
    headers: more.idempotencyKey === undefined ? {} : { 'idempotency-key': more.idempotencyKey },
    principal: {
      organizationId,
      projectId: more.projectKey ? projectId : null,
      mode: more.mode ?? 'live',
      caller: { kind: 'key', keyId: randomUUID(), role: 'owner' },
    },
  })

/** Has so many records of a meter for a request, as a route would; returns how many were charged. */
export async function take(
  billing: Billing,
  request: Caller,
  records: number,
  meter: Meter = 'events',
  projectId: string | null = null,
  answered: Answered = firstRecords(records),
): Promise<number> {
  const charge = await billing.admit(request, { meter, projectId, recordsMax: 1 })
  return charge.settle(records, answered)
}

/** Answers of the same records: a longer one has those of a shorter one, and more after them. */
export const firstRecords = (records: number): Answered => ({
  hashes: Array.from({ length: records }, (_, index) => String(index)),
})

/** What `work` is refused with; fails when it is not. */
export async function refusal(work: Promise<unknown>) {
  const error = await work.then(
    () => {
      throw new Error('it was not refused')
    },
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof ApiError)) throw error
  return {
    status: error.status,
    error: error.code,
    message: error.message,
    ...error.extra.body,
    headers: error.extra.headers ?? {},
  }
}

/** Sets what an organization pays for a meter. */
export async function setPrice(
  { postgres }: Accounts,
  { organizationId }: Organization,
  meter: Meter,
  microsPerThousand: number,
  freeRecordsPerMonth = 0,
): Promise<void> {
  await postgres.query(
    `INSERT INTO meter_prices VALUES ($1, $2, $3, $4) ON CONFLICT (organization_id, meter) DO UPDATE
     SET micros_per_thousand = excluded.micros_per_thousand,
         free_records_per_month = excluded.free_records_per_month`,
    [organizationId, meter, microsPerThousand, freeRecordsPerMonth],
  )
}

/** The organization's records, amount and entries in the ledger. */
export async function ledgerOf({ postgres }: Accounts, { organizationId }: Organization) {
  const { rows } = await postgres.query<{
    entries: number
    records: number
    free: number
    micros: number
  }>(
    `SELECT count(*)::float8 AS entries, coalesce(sum(records), 0)::float8 AS records,
       coalesce(sum(free_records), 0)::float8 AS free, coalesce(sum(amount_micros), 0)::float8 AS micros
     FROM ledger WHERE organization_id = $1`,
    [organizationId],
  )
  return rows[0]!
}

/** Where the totals and the ledger differ; nothing, always. */
export async function differences(postgres: Postgres): Promise<unknown[]> {
  const { rows } = await postgres.query('SELECT * FROM ledger_differences')
  return rows
}
