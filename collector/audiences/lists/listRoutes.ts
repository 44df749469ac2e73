import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import { changeRecord } from '../../api/access/changeRecord.ts'
import { requireFiltersAllowed } from '../../api/access/policy.ts'
import {
  bearerAccess as access,
  bearerWriteAccess as writeAccess,
} from '../../api/access/recordAccess.ts'
import { changesOf } from '../../api/http/optimisticLock.ts'
import { ById, ListChange, ListQuery, One, Page, ProjectQuery, tags } from './listSchemas.ts'
import { changeList, deleteList, readList, readLists } from './lists.ts'
import type { ListsDeps } from './listsDeps.ts'

const path = '/api/v1/lists'
const onePath = `${path}/:list_id`

export const listRoutes =
  (deps: ListsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, recordScopeOf } = deps

    app.get(
      path,
      {
        config: { access },
        schema: {
          tags,
          operationId: 'listLists',
          summary: 'List lists',
          querystring: ListQuery,
          description:
            'Returns the lists of `project_id`, or of every project that the caller can access. Sorted by creation time, newest first.',
          response: { 200: Page },
        },
      },
      async ({ principal, query }) => {
        const { project_id, limit, cursor, ...filters } = query
        requireFiltersAllowed(principal, filters)
        const scope = await recordScopeOf(principal, project_id)
        return readLists(deps, { scope, ...filters }, { limit, cursor })
      },
    )

    app.get(
      onePath,
      {
        config: { access },
        schema: {
          tags,
          operationId: 'getList',
          summary: 'Get a list',
          params: ById,
          querystring: ProjectQuery,
          description: 'Returns the list with the number of its members.',
          response: { 200: One },
        },
      },
      async ({ principal, params, query }) => {
        const scope = await recordScopeOf(principal, query.project_id)
        return { list: await readList(postgres, scope, params.list_id) }
      },
    )

    app.patch(
      onePath,
      {
        config: { access: writeAccess },
        schema: {
          tags,
          operationId: 'updateList',
          summary: 'Update a list',
          params: ById,
          querystring: ProjectQuery,
          body: ListChange,
          description:
            'Requires the project admin role. Omitted fields keep their values. The kind cannot change.',
          response: { 200: One },
        },
      },
      async (request) => {
        const { principal, params, body } = request
        return changeRecord(deps, request, readList, params.list_id, async (client, before) => {
          const list = await changeList(client, before, body)
          const object = { kind: 'list', id: list.id } as const
          await audit(client, principal, 'list.update', object, changesOf(before, list))
          return { list }
        })
      },
    )

    app.delete(
      onePath,
      {
        config: { access: writeAccess },
        schema: {
          tags,
          operationId: 'deleteList',
          summary: 'Delete a list',
          params: ById,
          querystring: ProjectQuery,
          description:
            'Requires the project admin role. Also deletes its members and imports. Returns 409 with the name of an audience or export that uses it.',
          response: { 204: Type.Null({ description: 'Deleted.' }) },
        },
      },
      async (request, reply) => {
        const { principal, params } = request
        await changeRecord(
          deps,
          request,
          readList,
          params.list_id,
          async (client, { id, name }) => {
            await deleteList(client, id)
            await audit(client, principal, 'list.delete', { kind: 'list', id }, { name })
          },
        )
        return reply.code(204).send(null)
      },
    )
  }
