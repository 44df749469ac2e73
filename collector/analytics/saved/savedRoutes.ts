import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { changeObject, type ObjectKind, objectProject } from '../../api/access/projectObjects.ts'
import {
  Id,
  Nullable,
  SeenVersion,
  strictObject,
  Timestamp,
  Version,
} from '../../api/http/commonSchemas.ts'
import { requireVersion } from '../../api/http/optimisticLock.ts'
import { rejectUnstorableText } from '../../api/http/rejectUnstorableText.ts'
import type { ReadDeps } from '../../events/query/readDeps.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { savedTags } from '../analyticsSchemas.ts'
import { mayRead } from '../openFigures.ts'
import {
  changeSavedItem,
  createSavedItem,
  deleteSavedItem,
  listSavedItems,
  readSavedItem,
  type SavedItem,
  savedItemsMax,
} from './savedItems.ts'
import { type SavedContent, type SavedKind, savedKinds } from './savedKinds.ts'

/** /api/v1/analytics/segments, /funnels and /annotations: items that the people of a project save. */
export const savedRoutes =
  (deps: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.addHook('preValidation', rejectUnstorableText)
    for (const kind of savedKinds) await app.register(routesOf(deps, kind))
  }

const ProjectQuery = strictObject({ project_id: Type.Optional(Id) })

function schemasOf({ kind, title, fields }: SavedKind) {
  const idName = `${kind}_id`
  const Item = Type.Object(
    {
      [idName]: Id,
      project_id: Id,
      ...fields,
      created_by: Nullable(
        Type.String({ description: 'The key’s name or the member’s e-mail address.' }),
      ),
      version: Version,
      created_at: Timestamp,
      updated_at: Timestamp,
    },
    { title: `Analytics${title}` },
  )
  const optional = Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => [name, Type.Optional(schema)]),
  )
  return {
    idName,
    Item,
    ById: strictObject({ [idName]: Id }),
    New: strictObject({ project_id: Id, ...fields }),
    Change: strictObject({ ...optional, version: SeenVersion }),
  }
}

/** List, create, update and delete items of one kind. Never billed. */
const routesOf =
  (deps: ReadDeps, kind: SavedKind): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres } = deps
    const { plural, title, article } = kind
    const { idName, Item, ById, New, Change } = schemasOf(kind)
    const path = `/api/v1/analytics/${plural}`
    const write = { ...mayRead, keyRole: 'write' } as const
    const publicItem = ({ item_id, content, ...item }: SavedItem) => ({
      ...content,
      ...item,
      [idName]: item_id,
    })

    const objects: ObjectKind<SavedItem> = {
      read: (client, organizationId, id, lock) =>
        readSavedItem(client, organizationId, kind, id, lock),
      missing: kind.notFound,
    }

    app.get(
      path,
      {
        config: { access: mayRead },
        schema: {
          tags: savedTags,
          operationId: `listAnalytics${title}s`,
          summary: `List the ${plural} of a project`,
          description: `Returns all ${plural} of the project, the oldest first. ${kind.description}`,
          querystring: strictObject({ project_id: Id }),
          response: { 200: Type.Object({ [plural]: Type.Array(Item) }) },
        },
      },
      async ({ principal, query }) => {
        const projectId = await objectProject(postgres, principal, query.project_id, 'read')
        return { [plural]: (await listSavedItems(postgres, projectId, kind)).map(publicItem) }
      },
    )

    app.post(
      path,
      {
        config: { access: write, sampleIds: { [kind.kind]: kind.sampleId } },
        schema: {
          tags: savedTags,
          operationId: `createAnalytics${title}`,
          summary: `Create ${article}`,
          description:
            `Requires the project admin role. ${kind.description} ` +
            `A project has at most ${savedItemsMax} ${plural}.`,
          body: New,
          response: { 201: Type.Object({ [kind.kind]: Item }) },
        },
      },
      async ({ principal, body }, reply) => {
        const { project_id, ...content } = body as SavedContent & { project_id: string }
        kind.check(content)
        const projectId = await objectProject(postgres, principal, project_id, 'write')
        const item = await inTransaction(postgres, (client) =>
          createSavedItem(client, principal, kind, projectId, content),
        )
        return reply.code(201).send({ [kind.kind]: publicItem(item) })
      },
    )

    app.patch(
      `${path}/:${idName}`,
      {
        config: { access: write },
        schema: {
          tags: savedTags,
          operationId: `updateAnalytics${title}`,
          summary: `Update ${article}`,
          description: 'Requires the project admin role. Omitted fields keep their values.',
          params: ById,
          querystring: ProjectQuery,
          body: Change,
          response: { 200: Type.Object({ [kind.kind]: Item }) },
        },
      },
      async ({ principal, params, query, body }) => {
        const { version, ...fields } = body as SavedContent & { version?: number }
        kind.check(fields)
        const id = (params as Record<string, string>)[idName]!
        return changeObject(
          postgres,
          principal,
          objects,
          { ...query, id },
          async (client, before) => {
            requireVersion(kind.kind, publicItem(before), version)
            const item = await changeSavedItem(client, principal, kind, before, fields)
            return { [kind.kind]: publicItem(item) }
          },
        )
      },
    )

    app.delete(
      `${path}/:${idName}`,
      {
        config: { access: write },
        schema: {
          tags: savedTags,
          operationId: `deleteAnalytics${title}`,
          summary: `Delete ${article}`,
          description:
            'Requires the project admin role. Share links that show it stay as they are.',
          params: ById,
          querystring: ProjectQuery,
          response: { 204: Type.Null({ description: 'Deleted.' }) },
        },
      },
      async ({ principal, params, query }, reply) => {
        const id = (params as Record<string, string>)[idName]!
        await changeObject(postgres, principal, objects, { ...query, id }, (client, item) =>
          deleteSavedItem(client, principal, kind, item),
        )
        return reply.code(204).send(null)
      },
    )
  }
