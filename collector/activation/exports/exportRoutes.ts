import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import { changeRecord } from '../../api/access/changeRecord.ts'
import { requireFiltersAllowed } from '../../api/access/policy.ts'
import { access, writeAccess } from '../../api/access/recordAccess.ts'
import { addExport, updateExport } from './exportChanges.ts'
import {
  ById,
  ExportChange,
  ListQuery,
  NewExport,
  One,
  Page,
  ProjectQuery,
  tags,
} from './exportSchemas.ts'
import { deleteExport, listExports, readExport } from './exports.ts'
import type { ExportsDeps } from './exportsDeps.ts'
import { sampleExportOf } from './sampleExport.ts'

const path = '/api/v1/exports'
const onePath = `${path}/:export_id`
const checked =
  'The destination must accept the format, and the integration must have the settings that the format needs. A mapping can only name fields of the destination. The service validates the fields of a CRM; while the CRM is unreachable, the export is saved and each run validates the mapping.'
const testKeys = 'With a test key, nothing is stored or sent.'

export const exportRoutes =
  (deps: ExportsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, recordScopeOf } = deps

    app.post(
      path,
      {
        config: {
          access: writeAccess,
          sampleIds: { export: sampleExportOf },
          refusals: { 409: 'The service cannot read the fields of the CRM.' },
        },
        schema: {
          tags,
          operationId: 'createExport',
          summary: 'Create an export',
          body: NewExport,
          description: `Requires the project admin role. Project keys can omit \`project_id\`. ${checked}${testKeys}`,
          response: { 201: One },
        },
      },
      async ({ principal, body }, reply) =>
        reply.code(201).send({ export: await addExport(deps, principal, body) }),
    )

    app.get(
      path,
      {
        config: { access },
        schema: {
          tags,
          operationId: 'listExports',
          summary: 'List exports',
          querystring: ListQuery,
          description:
            'Returns the exports of `project_id`, or of every project that the caller can access. Sorted by creation time, oldest first.',
          response: { 200: Page },
        },
      },
      async ({ principal, query }) => {
        const { project_id, ...rest } = query
        requireFiltersAllowed(principal, rest)
        return listExports(deps, await recordScopeOf(principal, project_id), rest)
      },
    )

    app.get(
      onePath,
      {
        config: { access },
        schema: {
          tags,
          operationId: 'getExport',
          summary: 'Get an export',
          params: ById,
          description: 'Returns the audience or list, the destination and the schedule.',
          querystring: ProjectQuery,
          response: { 200: One },
        },
      },
      async ({ principal, params, query }) => ({
        export: await readExport(
          postgres,
          await recordScopeOf(principal, query.project_id),
          params.export_id,
        ),
      }),
    )

    app.patch(
      onePath,
      {
        config: { access: writeAccess },
        schema: {
          tags,
          operationId: 'updateExport',
          summary: 'Update an export',
          params: ById,
          description: `Requires the project admin role. Omitted fields keep their values. ${checked}Requested runs do not change. ${testKeys}`,
          querystring: ProjectQuery,
          body: ExportChange,
          response: { 200: One },
        },
      },
      async ({ principal, params, query, body }) => ({
        export: await updateExport(deps, principal, { ...params, ...query }, body),
      }),
    )

    app.delete(
      onePath,
      {
        config: { access: writeAccess, refusals: { 409: 'A run is in progress.' } },
        schema: {
          tags,
          operationId: 'deleteExport',
          summary: 'Delete an export',
          params: ById,
          description: `Requires the project admin role. Also deletes its runs. Returns 409 while a run is in progress. ${testKeys}`,
          querystring: ProjectQuery,
          response: { 204: Type.Null({ description: 'Deleted.' }) },
        },
      },
      async (request, reply) => {
        const { principal, params } = request
        await changeRecord(
          deps,
          request,
          readExport,
          params.export_id,
          async (client, { id, name }) => {
            await deleteExport(client, id)
            await audit(client, principal, 'export.delete', { kind: 'export', id }, { name })
          },
        )
        return reply.code(204).send(null)
      },
    )
  }
