import { type Static, Type } from 'typebox'
import { requireOrganizationAdmin } from '../api/access/permissions.ts'
import { projectFor } from '../api/access/policy.ts'
import type { Principal } from '../api/access/principal.ts'
import { Id, strictObject } from '../api/http/commonSchemas.ts'
import { invalidParameter } from '../api/http/errors.ts'
import { dayMs } from '../platform/days.ts'
import type { BillingDeps } from './billingDeps.ts'
import type { UsageWindow } from './usageQuery.ts'

/** The usage that a route returns, for the descriptions of the routes. */
export const usageOf =
  'Returns the usage of the organization or of one project. A project’s usage is that of its own keys and that of ' +
  'other keys on its data. A project key and a member without the admin role get their own projects only. Test ' +
  'keys are never billed and have no usage.'

/** The parameters of every route that tells usage. */
export const UsageParameters = strictObject({
  project_id: Type.Optional(Id),
  start_date: Type.Optional(
    Type.String({
      description: 'First day in UTC, as YYYY-MM-DD. Default: the 1st of the month of `end_date`.',
    }),
  ),
  end_date: Type.Optional(
    Type.String({ description: 'Last day in UTC, inclusive. Default: today.' }),
  ),
})

const daysMax = 366

/** The owner and days of the usage that a request may see; default: this month. */
export async function readUsageWindow(
  { postgres, now }: BillingDeps,
  principal: Principal,
  query: Static<typeof UsageParameters>,
): Promise<UsageWindow> {
  const endDate = readDay('end_date', query.end_date) ?? new Date(now()).toISOString().slice(0, 10)
  const startDate = readDay('start_date', query.start_date) ?? `${endDate.slice(0, 7)}-01`
  if (startDate > endDate) throw invalidParameter('start_date', 'must not be after end_date')
  if (Date.parse(endDate) - Date.parse(startDate) >= daysMax * dayMs) {
    throw invalidParameter('start_date', `must be less than ${daysMax} days before end_date`)
  }
  return {
    organizationId: principal.mode === 'test' ? null : principal.organizationId,
    projectId: await readProject(postgres, principal, query.project_id),
    startDate,
    endDate,
  }
}

/** The requested project. Null for the organization. */
async function readProject(
  postgres: BillingDeps['postgres'],
  principal: Principal,
  projectId: string | undefined,
): Promise<string | null> {
  if (projectId === undefined && principal.projectId === null) {
    // Reading usage takes no more than reading: a key of the organization may, whatever its role.
    if (principal.caller.kind !== 'key') requireOrganizationAdmin(principal)
    return null
  }
  return (await projectFor(postgres, principal, 'records', projectId, 'read')).projectId
}

function readDay(parameter: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const isDay =
    // PostgreSQL has no year 0.
    /^(?!0000)\d{4}-\d{2}-\d{2}$/.test(text) &&
    new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text)
  if (!isDay) throw invalidParameter(parameter, 'must be a day, as YYYY-MM-DD')
  return text
}
