import { ApiError } from '../../api/http/errors.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { type RequestDeps, requestRun, unfinished } from './exportRuns.ts'
import { readExport } from './exports.ts'

/**
 * Requests a run of each export that is due by its schedule. An export without a build, or with a run in
 * progress, waits.
 */
export async function requestDueRuns(deps: RequestDeps & { postgres: Postgres }): Promise<void> {
  const { postgres } = deps
  const { rows } = await postgres.query<{
    export_id: string
    project_id: string
    organization_id: string
  }>(
    `SELECT export_id, exports.project_id, organization_id
     FROM exports JOIN projects USING (project_id) LEFT JOIN audiences USING (audience_id)
     WHERE schedule <> 'manual' AND (current_build_id IS NOT NULL OR exports.list_id IS NOT NULL) AND NOT EXISTS (
       SELECT FROM export_runs WHERE export_runs.export_id = exports.export_id
         AND (status IN ${unfinished} OR retry_of IS NULL AND requested_at >
           now() - CASE schedule WHEN 'hourly' THEN interval '1 hour' ELSE interval '1 day' END))
     ORDER BY export_id LIMIT 1000`,
  )
  for (const { export_id, project_id, organization_id } of rows) {
    await inTransaction(postgres, async (client) => {
      const scope = { organizationId: organization_id, projectIds: [project_id] }
      await requestRun(deps, client, await readExport(client, scope, export_id), {
        organizationId: organization_id,
        callerId: export_id,
        isProjectKey: false,
        requestId: null,
      })
    }).catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error
    })
  }
}
