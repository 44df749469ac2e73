import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { administeredProject } from '../../api/access/policy.ts'
import { sampleIdentity } from '../../api/access/sandboxTenant.ts'
import { Id, strictObject } from '../../api/http/commonSchemas.ts'
import { NextCursor, pageQuery, readPage } from '../../api/http/pagination.ts'
import { access, DeletedWithEvents } from '../accountSchemas.ts'
import type { AccountsDeps } from '../accountsDeps.ts'
import {
  changePixel,
  createPixel,
  deletePixel,
  NewPixel,
  PixelChange,
  PixelDeletion,
} from './pixelChanges.ts'
import { pixelFor, requireScope } from './pixelChecks.ts'
import { Pixel, pixelAt, readPixel, type StoredPixel, selectPixels } from './pixels.ts'

const Answer = Type.Object({ pixel: Pixel })
const tags = ['Pixels']

/** /api/v1/pixel*: the pixels of a project. Every process of the collector learns of a change at once. */
export const pixelRoutes =
  (deps: AccountsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, collectorUrl } = deps
    const config = { access: access.project }
    const preValidation = requireScope(postgres)

    app.post(
      '/api/v1/pixel/create',
      {
        config: { ...config, sampleIds: { pixel: sampleIdentity.pixelId } },
        preValidation,
        schema: {
          tags,
          operationId: 'createPixel',
          summary: 'Create a pixel',
          description: 'Requires the project admin role.',
          body: NewPixel,
          response: { 201: Answer },
        },
      },
      async ({ principal, body }, reply) =>
        reply.code(201).send({ pixel: await createPixel(deps, principal, body) }),
    )

    app.get(
      '/api/v1/pixel/list',
      {
        config: { access: access.projectRead },
        schema: {
          tags,
          operationId: 'listPixels',
          summary: 'List the pixels of a project',
          description: 'Returns the pixels of the project. Project keys can omit the project.',
          querystring: strictObject({ project_id: Type.Optional(Id), ...pageQuery }),
          response: { 200: Type.Object({ pixels: Type.Array(Pixel), next_cursor: NextCursor }) },
        },
      },
      async ({ principal, query }) => {
        const projectId = await administeredProject(postgres, principal, query.project_id, 'read')
        const { rows, next } = await readPage<StoredPixel>(deps, query, {
          list: 'pixels',
          owner: projectId,
          sql: `${selectPixels} WHERE project_id = $1`,
          values: [projectId],
          key: { created_at: 'timestamptz', pixel_id: 'uuid' },
        })
        return { pixels: rows.map(pixelAt(collectorUrl)), ...next }
      },
    )

    app.get(
      '/api/v1/pixel/retrieve/:pixel_id',
      {
        config: { access: access.projectRead },
        schema: {
          tags,
          operationId: 'getPixel',
          description: 'Returns the pixel with its settings, its script and the HTML to paste.',
          summary: 'Get a pixel',
          params: strictObject({ pixel_id: Id }),
          querystring: strictObject({ project_id: Type.Optional(Id) }),
          response: { 200: Answer },
        },
      },
      async ({ principal, params, query }) => {
        const { pixelId } = await pixelFor(postgres, principal, { ...params, ...query }, 'read')
        return { pixel: await readPixel(postgres, collectorUrl, pixelId) }
      },
    )

    app.put(
      '/api/v1/pixel/update',
      {
        config,
        preValidation,
        schema: {
          tags,
          operationId: 'updatePixel',
          summary: 'Update a pixel',
          description: 'Requires the project admin role. Pages apply new settings within minutes.',
          body: PixelChange,
          response: { 200: Answer },
        },
      },
      async ({ principal, body }) => ({ pixel: await changePixel(deps, principal, body) }),
    )

    app.delete(
      '/api/v1/pixel/delete',
      {
        config,
        preValidation,
        schema: {
          tags,
          operationId: 'deletePixel',
          summary: 'Delete a pixel',
          description:
            'Requires the project admin role. Collection stops immediately. Stored events stay unless `events` is `delete`.',
          body: PixelDeletion,
          response: { 200: DeletedWithEvents },
        },
      },
      async ({ principal, body }) => {
        const events = await deletePixel(deps, principal, body)
        return { deleted: true as const, events }
      },
    )
  }
