import { createHash } from 'node:crypto'
import { ApiError } from '../api/http/errors.ts'
import type { Queryable } from '../platform/postgres/transaction.ts'
import { uuidOfDigest } from '../platform/uuidOfDigest.ts'
import type { Billing } from './billing.ts'
import type { Caller } from './charge.ts'
import type { Meter } from './meters.ts'

/** The reasons why billing refuses records, as codes of its errors. */
export const refusalCodes = ['budget_exceeded', 'platform_cap_exceeded'] as const
export type RefusalCode = (typeof refusalCodes)[number]

/** The records that a job delivers for a project, such as a message or a file. */
interface JobCharge {
  /** Identifies the charge; the ledger charges each id once. */
  readonly requestId: string
  readonly organizationId: string
  readonly projectId: string
  /** The rule or the archive that delivers. */
  readonly callerId: string
  readonly meter: Meter
  readonly records: number
}

/** Returns the UUID that a text always gets, so that a repeat after a crash has the same charge. */
export const digestId = (text: string): string =>
  uuidOfDigest(createHash('sha256').update(text).digest())

/** Returns why the budgets of the project and the organization, or limits, do not cover the records; null if they do. */
export async function refusalOf(billing: Billing, charge: JobCharge): Promise<RefusalCode | null> {
  return refusalBy(() => admit(billing, charge))
}

/**
 * Charges the records of a job, in all tries once. Returns the code of a refusal, or null. A repeat is never refused:
 * its own charge may have used up the budget.
 */
export async function chargeJob(
  { billing, postgres }: { billing: Billing; postgres: Queryable },
  charge: JobCharge,
): Promise<RefusalCode | null> {
  const { rowCount } = await postgres.query(
    "SELECT FROM ledger WHERE request_id = $1 AND kind = 'charge'",
    [charge.requestId],
  )
  if (rowCount !== 0) return null
  return refusalBy(async () => (await admit(billing, charge)).settle(charge.records))
}

const admit = (billing: Billing, charge: JobCharge) => {
  const { requestId, organizationId, projectId, callerId, meter, records } = charge
  const caller: Caller = {
    requestId,
    organizationId,
    // As for a key of the project, its own budget applies too.
    projectId,
    callerId,
    mode: 'live',
    repeatOf: null,
  }
  return billing.admit(caller, { meter, projectId, recordsMax: records })
}

async function refusalBy(ask: () => Promise<unknown>): Promise<RefusalCode | null> {
  try {
    await ask()
    return null
  } catch (error) {
    if (error instanceof ApiError && error.status === 402) return 'budget_exceeded'
    if (error instanceof ApiError && error.status === 429) return 'platform_cap_exceeded'
    throw error
  }
}
