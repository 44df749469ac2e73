import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { bearerAccess as access } from '../../api/access/recordAccess.ts'
import { ApiError } from '../../api/http/errors.ts'
import { readPage } from '../../api/http/pagination.ts'
import { clickhouseOf } from '../../events/query/eventStores.ts'
import { type ImportRow, importOf, readImport, selectImports } from './imports.ts'
import { readRejected } from './listRows.ts'
import {
  ById,
  ByImport,
  ImportsPage,
  ImportsQuery,
  OneImport,
  ProjectQuery,
  RejectedPage,
  RejectedQuery,
  tags,
} from './listSchemas.ts'
import { readList } from './lists.ts'
import type { ListsDeps } from './listsDeps.ts'
import { rejectedLine } from './reasons.ts'

const path = '/api/v1/lists/:list_id/imports'
const rejectedLimit = 1_000

export const importRoutes =
  (deps: ListsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, cursors, recordScopeOf } = deps
    const config = { access }

    app.get(
      path,
      {
        config,
        schema: {
          tags,
          operationId: 'listListImports',
          summary: 'List the imports of a list',
          description: 'Returns the imports, newest first.',
          params: ById,
          querystring: ImportsQuery,
          response: { 200: ImportsPage },
        },
      },
      async ({ principal, params, query: { project_id, ...page } }) => {
        const scope = await recordScopeOf(principal, project_id)
        const { id } = await readList(postgres, scope, params.list_id)
        const { rows, next } = await readPage<ImportRow>(deps, page, {
          list: 'list_imports',
          owner: id,
          sql: selectImports,
          values: [id],
          key: { id: 'uuid' },
          order: 'desc',
        })
        return { imports: rows.map(importOf), ...next }
      },
    )

    app.get(
      `${path}/:import_id`,
      {
        config,
        schema: {
          tags,
          operationId: 'getListImport',
          summary: 'Get the status of an import',
          description:
            'When it is `completed`, `rows_total` is the sum of `rows_matched`, `rows_unmatched`, `rows_duplicate` and `rows_rejected`.',
          params: ByImport,
          querystring: ProjectQuery,
          response: { 200: OneImport },
        },
      },
      async ({ principal, params, query }) => {
        const scope = await recordScopeOf(principal, query.project_id)
        const { id } = await readList(postgres, scope, params.list_id)
        return { import: await readImport(postgres, id, params.import_id) }
      },
    )

    const rejected = cursors<number>('list_rejected_lines')
    app.get(
      `${path}/:import_id/rejected`,
      {
        config: { ...config, refusals: { 409: '`not_ready`: the import is not completed.' } },
        schema: {
          tags,
          operationId: 'listRejectedLines',
          summary: 'List the rejected lines of an import',
          description:
            'Returns line numbers and reasons in the order of the file. The content of the lines is not stored.',
          params: ByImport,
          querystring: RejectedQuery,
          response: { 200: RejectedPage },
        },
      },
      async ({ principal, params, query }) => {
        const { project_id, limit = rejectedLimit, cursor } = query
        const scope = await recordScopeOf(principal, project_id)
        const { id } = await readList(postgres, scope, params.list_id)
        const { id: importId, status } = await readImport(postgres, id, params.import_id)
        if (status !== 'completed')
          throw new ApiError(409, 'not_ready', `This import is ${status}.`)
        const after = cursor === undefined ? 0 : rejected.read(importId, cursor)
        const lines = await readRejected(clickhouseOf(deps, scope.organizationId), {
          listId: id,
          importId,
          after,
          limit: limit + 1,
        })
        const page = lines.slice(0, limit)
        return {
          rejected: page.map(rejectedLine),
          ...(lines.length > limit && { next_cursor: rejected.write(importId, page.at(-1)!.line) }),
        }
      },
    )
  }
