import { sampleIdentity } from '../../api/access/sandboxTenant.ts'
import { createAudience } from '../../audiences/audiences.ts'
import { templates } from '../../audiences/templates.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'

export const sampleAudiences = [
  { audienceId: sampleIdentity.audienceId, templateId: 'frequent_visitors' },
  { audienceId: '5a3b1e00-0000-4000-8000-0000000000d2', templateId: 'abandoned_basket' },
  { audienceId: '5a3b1e00-0000-4000-8000-0000000000d3', templateId: 'visiting_companies' },
] as const

/**
 * Ensures that the sample audiences of an existing project exist. They are built daily, because the sample
 * adds events.
 */
export async function ensureSampleAudiences(postgres: Postgres): Promise<void> {
  for (const { audienceId, templateId } of sampleAudiences) {
    const { name, definition } = templates.find(({ template_id }) => template_id === templateId)!
    await inTransaction(postgres, async (client) => {
      // The lock makes concurrent starts wait, and then find the existing rows.
      await client.query('SELECT FROM projects WHERE project_id = $1 FOR UPDATE', [
        sampleIdentity.projectId,
      ])
      const { rowCount } = await client.query('SELECT FROM audiences WHERE audience_id = $1', [
        audienceId,
      ])
      if (rowCount !== 0) return
      await createAudience(
        client,
        sampleIdentity.projectId,
        { name, definition, refresh: 'daily' },
        audienceId,
      )
    })
  }
}
