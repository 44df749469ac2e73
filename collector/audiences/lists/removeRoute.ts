import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { audit } from '../../api/access/audit.ts'
import { projectFor } from '../../api/access/policy.ts'
import { bearerWriteAccess as writeAccess } from '../../api/access/recordAccess.ts'
import { clickhouseOf } from '../../events/query/eventStores.ts'
import { readNotCompleted } from './imports.ts'
import { ById, ProjectQuery, Removed, RemovedItems, tags } from './listSchemas.ts'
import { changeMembers, noteRemoved, readList } from './lists.ts'
import type { ListsDeps } from './listsDeps.ts'
import { rejectedLine } from './reasons.ts'
import { removeItems } from './removeItems.ts'

/** Largest body: ten thousand addresses. */
const bodyBytesMax = 4 * 1024 * 1024

/** DELETE /api/v1/lists/{list_id}/items: removes items at once, with a result for every item. */
export const removeRoute =
  (deps: ListsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, recordScopeOf } = deps
    app.delete(
      '/api/v1/lists/:list_id/items',
      {
        config: { access: writeAccess },
        bodyLimit: bodyBytesMax,
        schema: {
          tags,
          operationId: 'removeListItems',
          summary: 'Remove items from a list',
          description:
            'Requires the project admin role. Removes the items immediately. An import in progress can add them again when it completes.',
          params: ById,
          querystring: ProjectQuery,
          body: RemovedItems,
          response: { 200: Removed },
        },
      },
      async ({ principal, params, query, body }) => {
        const scope = await recordScopeOf(principal, query.project_id)
        const { id, project_id } = await readList(postgres, scope, params.list_id)
        await projectFor(postgres, principal, 'records', project_id, 'write')
        return changeMembers(postgres, id, async (lease) => {
          const { kind } = await readList(postgres, scope, id)
          const notCompleted = await readNotCompleted(postgres, [id])
          const result = await removeItems(
            clickhouseOf(deps, scope.organizationId),
            { listId: id, kind, notCompleted },
            body.items,
          )
          return lease.inTransaction(async (client) => {
            await noteRemoved(client, id, result.removed)
            await audit(
              client,
              principal,
              'list.remove_items',
              { kind: 'list', id },
              { removed: result.removed },
            )
            return {
              ...result,
              rejected: result.rejected.map(rejectedLine),
              list: await readList(client, scope, id),
            }
          })
        })
      },
    )
  }
