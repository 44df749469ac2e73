import type { Queryable } from '../../platform/postgres/transaction.ts'

/** Waits for other changes of the organization and of who its owners are, and keeps them waiting until the end of the transaction. */
export async function lockOrganization(client: Queryable, organizationId: string): Promise<void> {
  await client.query('SELECT FROM organizations WHERE organization_id = $1 FOR NO KEY UPDATE', [
    organizationId,
  ])
}
