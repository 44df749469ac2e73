import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { audit } from '../../api/access/audit.ts'
import { changeRecord } from '../../api/access/changeRecord.ts'
import { callerId, type Principal } from '../../api/access/principal.ts'
import { writeAccess } from '../../api/access/recordAccess.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import {
  cancelRun,
  type Requester,
  type Run,
  readRun,
  requestRetry,
  requestRun,
} from './exportRuns.ts'
import { ById, OneRun, ProjectQuery, RunById, tags } from './exportSchemas.ts'
import { type Export, readExport } from './exports.ts'
import type { ExportsDeps } from './exportsDeps.ts'
import { sampleRunOf } from './sampleExport.ts'

const path = '/api/v1/exports/:export_id/runs'
const onePath = `${path}/:run_id`
const notNow =
  'A run is in progress, no record failed, or `not_ready`: the audience is not built, or its members were deleted.'
const testKeys = ' With a test key, the answer is the sample run; nothing is sent or charged.'

interface RunRequest {
  readonly id: string
  readonly principal: Principal
  readonly params: { readonly export_id: string; readonly run_id?: string }
  readonly query: { readonly project_id?: string }
}

/** Routes that start a run of an export, resend its failed records, or cancel it. */
export const runActionRoutes =
  (deps: ExportsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    /** Runs a change of an export or its run in a transaction that locks both, and returns the run. */
    const change = async (
      request: RunRequest,
      action: string,
      work: (
        client: Queryable,
        exportRecord: Export,
        run: Run | null,
        requester: Requester,
      ) => Promise<string>,
    ): Promise<{ run: Run }> => {
      const { id, principal, params } = request
      const { export_id, run_id } = params
      return changeRecord(deps, request, readExport, export_id, async (client, exportRecord) => {
        const run = run_id === undefined ? null : await readRun(client, export_id, run_id, true)
        const runId = await work(client, exportRecord, run, {
          organizationId: principal.organizationId,
          callerId: callerId(principal),
          isProjectKey: principal.projectId !== null,
          requestId: id,
        })
        await audit(client, principal, action, { kind: 'export', id: export_id }, { run_id: runId })
        return { run: await readRun(client, export_id, runId) }
      })
    }

    app.post(
      path,
      {
        config: { access: writeAccess, sampleIds: { run: sampleRunOf }, refusals: { 409: notNow } },
        schema: {
          tags,
          operationId: 'createExportRun',
          summary: 'Start a run of an export',
          params: ById,
          querystring: ProjectQuery,
          description: `Requires the project admin role. Sends the current build of the audience, or the current members of the list, in chunks. Later changes do not affect the run. Records are charged on the meter of the audience before they are sent. Records of the build that were already charged on the same UTC day are free. A run stops at an exceeded budget or limit. Returns 409 while a run is in progress, and \`not_ready\` before the audience is built.${testKeys}`,
          response: { 201: OneRun },
        },
      },
      async (request, reply) => {
        const answer = await change(
          request,
          'export.run',
          (client, exportRecord, _run, requester) =>
            requestRun(deps, client, exportRecord, requester),
        )
        return reply.code(201).send(answer)
      },
    )

    app.post(
      `${onePath}/retry`,
      {
        config: { access: writeAccess, sampleIds: { run: sampleRunOf }, refusals: { 409: notNow } },
        schema: {
          tags,
          operationId: 'retryExportRun',
          summary: 'Retry the failed records of a run',
          description: `Requires the project admin role. Starts a run with only the failed records, from the same build. Records that were charged on the same UTC day are free. Returns 409 while a run is in progress, or if no record failed.${testKeys}`,
          params: RunById,
          querystring: ProjectQuery,
          response: { 201: OneRun },
        },
      },
      async (request, reply) => {
        const answer = await change(
          request,
          'export.retry',
          (client, exportRecord, run, requester) =>
            requestRetry(deps, client, exportRecord, run!, requester),
        )
        return reply.code(201).send(answer)
      },
    )

    app.post(
      `${onePath}/cancel`,
      {
        config: { access: writeAccess },
        schema: {
          tags,
          operationId: 'cancelExportRun',
          summary: 'Cancel a run of an export',
          params: RunById,
          querystring: ProjectQuery,
          description: `Requires the project admin role. The remaining records fail and can be retried.${testKeys}`,
          response: { 200: OneRun },
        },
      },
      async (request) =>
        change(request, 'export.cancel', async (client, _wanted, run) => {
          await cancelRun(client, run!.run_id)
          return run!.run_id
        }),
    )
  }
