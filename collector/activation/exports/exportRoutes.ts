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
  'The destination must accept the format, and the integration must have the settings that the format needs. A mapping ' +
  'must name fields that the destination has. A CRM is asked for its fields; while it is unreachable the export is ' +
  'saved, and each run checks the mapping. '
const testKeys = 'With a test key nothing is kept and nothing is ever sent.'

/** Exports as records: create, list, read, change, delete. */
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
          refusals: { 409: 'Which fields the CRM has cannot be asked.' },
        },
        schema: {
          tags,
          operationId: 'createExport',
          summary: 'Create an export',
          body: NewExport,
          description: `A project key may omit \`project_id\`. Requires the project admin role. ${checked}${testKeys}`,
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
            'Of one project, else of the key’s, else of all that the caller may see; oldest first.',
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
          description: 'What it sends, where, and when.',
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
          description: `Omitted fields keep their values. ${checked}A run that was asked for already stays as it was. ${testKeys}`,
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
        config: { access: writeAccess, refusals: { 409: 'A run is under way.' } },
        schema: {
          tags,
          operationId: 'deleteExport',
          summary: 'Delete an export',
          params: ById,
          description: `With its runs. 409 while one of them is under way. ${testKeys}`,
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
