import type { Queryable } from '../../platform/postgres/transaction.ts'

/** Changes of the organization and of its owners run one after another. */
export async function lockOrganization(client: Queryable, organizationId: string): Promise<void> {
  await client.query('SELECT FROM organizations WHERE organization_id = $1 FOR NO KEY UPDATE', [
    organizationId,
  ])
}

/** Changes of a project’s alerts, goals or audiences run one after another. */
export async function lockProject(client: Queryable, projectId: string): Promise<void> {
  await client.query('SELECT FROM projects WHERE project_id = $1 FOR NO KEY UPDATE', [projectId])
}
