import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { projectFor } from '../../api/access/policy.ts'
import type { Principal } from '../../api/access/principal.ts'
import { access } from '../../api/access/recordAccess.ts'
import { recordIdentityRead } from '../../billing/identityReads.ts'
import { listFailures, listRuns, readRun } from './exportRuns.ts'
import {
  ById,
  FailurePage,
  FailuresQuery,
  OneRun,
  ProjectQuery,
  RunById,
  RunPage,
  RunsQuery,
  tags,
} from './exportSchemas.ts'
import { readExport } from './exports.ts'
import type { ExportsDeps } from './exportsDeps.ts'

const path = '/api/v1/exports/:export_id/runs'
const onePath = `${path}/:run_id`

/** Routes that return runs of an export: their progress and failures. */
export const runRoutes =
  (deps: ExportsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, recordScopeOf } = deps

    /** Reads an export that the caller may see. Throws 403 and 404. */
    const readable = async (
      principal: Principal,
      exportId: string,
      projectId: string | undefined,
    ) => readExport(postgres, await recordScopeOf(principal, projectId), exportId)

    app.get(
      path,
      {
        config: { access },
        schema: {
          tags,
          operationId: 'listExportRuns',
          summary: 'List the runs of an export',
          params: ById,
          description: 'Returns the runs, newest first.',
          querystring: RunsQuery,
          response: { 200: RunPage },
        },
      },
      async ({ principal, params, query }) => {
        const { project_id, ...page } = query
        const { id } = await readable(principal, params.export_id, project_id)
        return listRuns(deps, id, page)
      },
    )

    app.get(
      onePath,
      {
        config: { access },
        schema: {
          tags,
          operationId: 'getExportRun',
          summary: 'Get a run of an export',
          params: RunById,
          description:
            'Returns the run and its counters, which always add up. You can poll it. Never charged.',
          querystring: ProjectQuery,
          response: { 200: OneRun },
        },
      },
      async ({ principal, params, query }) => {
        const { id } = await readable(principal, params.export_id, query.project_id)
        return { run: await readRun(postgres, id, params.run_id) }
      },
    )

    app.get(
      `${onePath}/failures`,
      {
        config: { access },
        schema: {
          tags,
          operationId: 'listExportFailures',
          summary: 'List the failed records of a run',
          description:
            'Returns each record with its reason; with `outcome=duplicated` the skipped records. Records that were not charged have no id. The records identify people: dashboard members need the project admin role, and the audit log records each access.',
          params: RunById,
          querystring: FailuresQuery,
          response: { 200: FailurePage },
        },
      },
      async (request) => {
        const { principal, params, query } = request
        const { project_id: requestedProjectId, ...page } = query
        const { id, project_id } = await readable(principal, params.export_id, requestedProjectId)
        if (principal.caller.kind === 'member')
          await projectFor(postgres, principal, 'records', project_id, 'identity')
        const { run_id } = await readRun(postgres, id, params.run_id)
        const answer = await listFailures(deps, run_id, page)
        const read = { meter: null, records: answer.failures.length, projectId: project_id }
        await recordIdentityRead(postgres, request, read)
        return answer
      },
    )
  }
