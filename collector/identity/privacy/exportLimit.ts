import { randomUUID } from 'node:crypto'
import { audit } from '../../api/access/audit.ts'
import { lockOrganization } from '../../api/access/organizationLock.ts'
import type { Principal } from '../../api/access/principal.ts'
import { ApiError } from '../../api/http/errors.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'

/**
 * Exports of personal data per organization in 24 hours, which suffices for individual requests but not for
 * bulk exports.
 */
export const exportsPerDay = 100

/**
 * Records an export in the audit log, without its subject. Throws 429 "rate_limited" with Retry-After if the
 * organization has reached the limit of the last 24 hours.
 */
export async function noteExport(
  postgres: Postgres,
  principal: Principal,
  by: string,
): Promise<void> {
  const { organizationId } = principal
  await inTransaction(postgres, async (client) => {
    await lockOrganization(client, organizationId)
    const { rows } = await client.query<{ made: number; wait_seconds: number | null }>(
      `SELECT count(*)::int AS made, extract(epoch FROM min(at) + interval '24 hours' - now())::float8 AS wait_seconds
       FROM audit_log
       WHERE organization_id = $1 AND action = 'subject.export' AND at > now() - interval '24 hours'`,
      [organizationId],
    )
    const { made, wait_seconds } = rows[0]!
    if (made >= exportsPerDay) {
      throw new ApiError(
        429,
        'rate_limited',
        `More than ${exportsPerDay} exports in 24 hours. Wait before the next one.`,
        {
          headers: { 'retry-after': String(Math.max(1, Math.ceil(wait_seconds!))) },
        },
      )
    }
    await audit(client, principal, 'subject.export', { kind: 'subject', id: randomUUID() }, { by })
  })
}
