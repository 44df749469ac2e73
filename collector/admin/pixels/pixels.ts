import { randomUUID } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { snippet } from '../../../pixel/stub.mjs'
import {
  collectorSettingsSchema,
  defaultCollectorSettings,
  defaultPixelSettings,
  pixelSettingsSchema,
} from '../../../schemas/beacon.ts'
import { audit } from '../../access/audit.ts'
import { projectFor } from '../../access/permissions.ts'
import { notFound } from '../../http/errors.ts'
import { changesOf, requireVersion } from '../../http/optimisticLock.ts'
import { NextCursor, pageQuery, readPage } from '../../http/pagination.ts'
import { exactly, Id, Name, SeenVersion, Timestamp, Version } from '../../http/schemas.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import type { AccountsDeps } from '../deps.ts'
import { requestDeletion } from '../projects/eventDeletions.ts'
import { access, DeletedWithEvents, EventsChoice } from '../schemas.ts'
import { requireSelectors } from './maskSelectors.ts'
import { pixelFor, requireOrigins } from './pixelChecks.ts'

const Settings = exactly(
  { ...pixelSettingsSchema.properties, ...collectorSettingsSchema.properties },
  { title: 'PixelSettings' },
)

const Pixel = Type.Object(
  {
    pixel_id: Id,
    project_id: Id,
    name: Type.String(),
    active: Type.Boolean({ description: 'An inactive pixel takes no events.' }),
    allowed_origins: Type.Array(Type.String(), {
      description: 'Origins whose pages may send; empty means any.',
    }),
    settings: Settings,
    script_url: Type.String(),
    snippet: Type.String({ description: 'HTML to paste into every page.' }),
    version: Version,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Pixel' },
)
type Pixel = Static<typeof Pixel>

const AllowedOrigins = Type.Array(Type.String({ maxLength: 300 }), {
  maxItems: 100,
  description: 'Each as browsers send it in `Origin`: `https://shop.example`, with a port if it has one.',
})
const GivenSettings = Type.Partial(Settings, {
  additionalProperties: false,
  title: 'GivenPixelSettings',
  description: 'Settings that are not given stay as they are.',
})

const Answer = Type.Object({ pixel: Pixel })
const tags = ['Administration']

/** /api/v1/pixel*: the pixels of a project. Every process of the collector learns of a change at once. */
export const pixelRoutes =
  (deps: AccountsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, publicUrl } = deps
    const config = { access: access.project }
    const toPixel = pixelAt(publicUrl)

    const readPixel = async (client: Queryable, pixelId: string, lock: '' | 'FOR UPDATE' = '') => {
      const { rows } = await client.query<PixelRow>(`${selectPixels} WHERE pixel_id = $1 ${lock}`, [pixelId])
      if (!rows[0]) throw notFound.pixel()
      return toPixel(rows[0])
    }

    app.post(
      '/api/v1/pixel/create',
      {
        config,
        schema: {
          tags,
          operationId: 'createPixel',
          summary: 'Create a pixel',
          description: 'For admins of the project too.',
          body: exactly({
            project_id: Id,
            name: Name,
            allowed_origins: Type.Optional(AllowedOrigins),
            settings: Type.Optional(GivenSettings),
            active: Type.Optional(Type.Boolean()),
          }),
          response: { 201: Answer },
        },
      },
      async ({ principal, body }, reply) => {
        const { name, active = true, allowed_origins = [], settings = {} } = body
        requireOrigins(allowed_origins)
        requireSelectors(settings.mask_selectors ?? [], 'settings.mask_selectors')
        const { projectId } = await projectFor(postgres, principal, body.project_id, 'write')
        const id = randomUUID()
        const pixel = await inTransaction(postgres, async (client) => {
          await client.query(
            `INSERT INTO pixels (pixel_id, project_id, name, active, allowed_origins, settings)
             VALUES ($1, $2, $3, $4, $5, $6)`,
            [id, projectId, name, active, allowed_origins, JSON.stringify(settings)],
          )
          await audit(
            client,
            principal,
            'pixel.create',
            { kind: 'pixel', id },
            { project_id: projectId, name, active, allowed_origins, settings },
          )
          return readPixel(client, id)
        })
        return reply.code(201).send({ pixel })
      },
    )

    app.get(
      '/api/v1/pixel/list',
      {
        config: { access: access.projectRead },
        schema: {
          tags,
          operationId: 'listPixels',
          summary: 'List the pixels of a project',
          description: 'A project key need not say which project.',
          querystring: exactly({ project_id: Type.Optional(Id), ...pageQuery }),
          response: { 200: Type.Object({ pixels: Type.Array(Pixel), next_cursor: NextCursor }) },
        },
      },
      async ({ principal, query }) => {
        const { projectId } = await projectFor(postgres, principal, query.project_id, 'read')
        const { rows, next } = await readPage<PixelRow>(deps, query, {
          list: 'pixels',
          owner: projectId,
          sql: `${selectPixels} WHERE project_id = $1`,
          values: [projectId],
          key: { created_at: 'timestamptz', pixel_id: 'uuid' },
        })
        return { pixels: rows.map(toPixel), ...next }
      },
    )

    app.get(
      '/api/v1/pixel/retrieve/:pixel_id',
      {
        config: { access: access.projectRead },
        schema: {
          tags,
          operationId: 'getPixel',
          description: 'With its settings, its script and the HTML to paste.',
          summary: 'Get a pixel',
          params: exactly({ pixel_id: Id }),
          querystring: exactly({ project_id: Type.Optional(Id) }),
          response: { 200: Answer },
        },
      },
      async ({ principal, params, query }) => {
        const { pixelId } = await pixelFor(postgres, principal, { ...params, ...query }, 'read')
        return { pixel: await readPixel(postgres, pixelId) }
      },
    )

    app.put(
      '/api/v1/pixel/update',
      {
        config,
        schema: {
          tags,
          operationId: 'updatePixel',
          summary: 'Update a pixel',
          description: 'For admins of the project too. Pages get new settings within minutes.',
          body: exactly({
            pixel_id: Id,
            project_id: Type.Optional(Id),
            name: Type.Optional(Name),
            active: Type.Optional(Type.Boolean()),
            allowed_origins: Type.Optional(AllowedOrigins),
            settings: Type.Optional(GivenSettings),
            version: SeenVersion,
          }),
          response: { 200: Answer },
        },
      },
      async ({ principal, body }) => {
        requireOrigins(body.allowed_origins ?? [])
        requireSelectors(body.settings?.mask_selectors ?? [], 'settings.mask_selectors')
        const { pixelId: id } = await pixelFor(postgres, principal, body, 'write')
        return inTransaction(postgres, async (client) => {
          const before = await readPixel(client, id, 'FOR UPDATE')
          requireVersion('pixel', before, body.version)
          await client.query(
            `UPDATE pixels SET name = coalesce($2, name), active = coalesce($3, active),
               allowed_origins = coalesce($4, allowed_origins), settings = settings || $5,
               version = version + 1, updated_at = now()
             WHERE pixel_id = $1`,
            [id, body.name, body.active, body.allowed_origins, JSON.stringify(body.settings ?? {})],
          )
          const pixel = await readPixel(client, id)
          await audit(client, principal, 'pixel.update', { kind: 'pixel', id }, changesOf(before, pixel))
          return { pixel }
        })
      },
    )

    app.delete(
      '/api/v1/pixel/delete',
      {
        config,
        schema: {
          tags,
          operationId: 'deletePixel',
          summary: 'Delete a pixel',
          description: 'For admins of the project too.',
          body: exactly({ pixel_id: Id, project_id: Type.Optional(Id), events: EventsChoice }),
          response: { 200: DeletedWithEvents },
        },
      },
      async ({ principal, body }) => {
        const { pixelId, projectId } = await pixelFor(postgres, principal, body, 'write')
        const { events } = body
        await inTransaction(postgres, async (client) => {
          const { name } = await readPixel(client, pixelId, 'FOR UPDATE')
          if (events === 'delete') {
            await requestDeletion(client, { organizationId: principal.organizationId, projectId, pixelId })
          }
          await audit(
            client,
            principal,
            'pixel.delete',
            { kind: 'pixel', id: pixelId },
            { project_id: projectId, name, events },
          )
          await client.query('DELETE FROM pixels WHERE pixel_id = $1', [pixelId])
        })
        return { deleted: true as const, events }
      },
    )
  }

const selectPixels = `
  SELECT pixel_id, project_id, name, active, allowed_origins, settings, version, created_at, updated_at FROM pixels`

interface PixelRow extends Omit<Pixel, 'settings' | 'script_url' | 'snippet' | 'created_at' | 'updated_at'> {
  settings: Partial<Pixel['settings']>
  created_at: Date
  updated_at: Date
}

const pixelAt =
  (publicUrl: string) =>
  (row: PixelRow): Pixel => {
    const script_url = `${publicUrl}/p/${row.pixel_id}.js`
    return {
      pixel_id: row.pixel_id,
      project_id: row.project_id,
      name: row.name,
      active: row.active,
      allowed_origins: row.allowed_origins,
      settings: { ...defaultPixelSettings, ...defaultCollectorSettings, ...row.settings },
      script_url,
      snippet: snippet(script_url),
      version: row.version,
      created_at: row.created_at.toISOString(),
      updated_at: row.updated_at.toISOString(),
    }
  }
