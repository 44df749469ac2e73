import multipart from '@fastify/multipart'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import { ConcurrencyLimiter } from '../../api/access/concurrencyLimiter.ts'
import { projectFor } from '../../api/access/policy.ts'
import { bearerWriteAccess as writeAccess } from '../../api/access/recordAccess.ts'
import { sampleIdentity } from '../../api/access/sandboxTenant.ts'
import { busy, ClientDisconnected } from '../../api/http/errors.ts'
import { withLongUpload } from '../../api/http/longUploads.ts'
import { untilClosed } from '../../api/http/streaming.ts'
import { validatorCompiler } from '../../api/http/validation.ts'
import { undoSimulated } from '../../platform/postgres/simulation.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import { uuidV7 } from '../../platform/uuidV7.ts'
import { requireFewWaiting, storeImport } from './imports.ts'
import {
  ById,
  ItemsQuery,
  NewItems,
  NewItemsBody,
  NewList,
  NewListBody,
  Started,
  tags,
  UploadQuery,
} from './listSchemas.ts'
import { createList, readList } from './lists.ts'
import type { ListsDeps } from './listsDeps.ts'
import { formLimits, readBody, streamTypes, type UploadParameters } from './upload/readBody.ts'
import { type Saved, saveUpload, type Upload } from './upload/saveUpload.ts'

const path = '/api/v1/lists'
const jsonBytesMax = 16 * 1024 * 1024

const config = {
  access: writeAccess,
  sampleIds: { list: sampleIdentity.listId, import: sampleIdentity.importId },
  unpacksBody: true,
  refusals: {
    413: '`too_large`: a file of more than 1 GiB, unpacked, or 50 million lines. Or an archive that expands more than 100 times, or JSON of more than 16 MiB.',
    429: '`rate_limited`: the organization has 1,000 waiting imports, or 4 GiB of uploads and waiting imports, or exceeds the rate limit.',
    415: '`unsupported_media_type`: send JSON, CSV, NDJSON or a form.',
  },
} as const

/** Checks the parameters of a file from any place. Throws 400. */
function readerOf<S extends TSchema>(schema: S) {
  const check = validatorCompiler({ schema, method: 'POST', url: path, httpPart: 'body' })
  return (parameters: UploadParameters): Static<S> => {
    const { value, error } = check(parameters) as { value: Static<S>; error?: Error }
    if (error) throw error
    return value
  }
}
const readNewList = readerOf(NewList)
const readNewItems = readerOf(NewItems)

const described =
  'Accepts items in JSON, or a CSV or NDJSON file, plain, gzip or in a form. The service saves files first and imports them in the background; the import reports each row. E-mail addresses are hashed and deleted when the import ends.'

/** POST /api/v1/lists and …/{list_id}/items: what brings members in. */
export const uploadRoutes =
  ({ postgres, uploads, recordScopeOf }: ListsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    await app.register(multipart, { limits: formLimits, throwFileSizeLimit: false })
    app.addContentTypeParser(streamTypes.slice(0, 2), (_request, payload, done) =>
      done(null, payload),
    )

    const requireShare = async ({ organizationId }: Upload) =>
      requireFewWaiting(postgres, organizationId, await uploads.arrivingBytes(organizationId))

    /** Saves the file of a request. An interrupted one leaves nothing. */
    const saveFile = async (request: FastifyRequest, importId: string, upload: Upload) => {
      undoSimulated(() => uploads.remove(importId))
      try {
        return await saveUpload(uploads, importId, upload, () => requireShare(upload))
      } catch (error) {
        if (request.raw.complete || !request.raw.destroyed) throw error
        request.log.warn(
          { error: (error as Error).message },
          'an upload to a list was interrupted and discarded',
        )
        throw new ClientDisconnected('the client of an upload disconnected')
      }
    }

    const inSlot = createUploadSlots()
    /** Saves the file of a request, then what `store` stores of it. */
    const save = async <T>(
      reply: FastifyReply,
      importId: string,
      upload: Upload,
      store: (client: Queryable, saved: Saved) => Promise<T>,
    ): Promise<T> => {
      const { request } = reply
      return inSlot(upload.organizationId, untilClosed(reply), async () => {
        const saved = await saveFile(request, importId, upload)
        return inTransaction(postgres, (client) => store(client, saved))
      })
    }

    app.post(
      path,
      {
        config,
        bodyLimit: jsonBytesMax,
        schema: {
          tags,
          operationId: 'createList',
          summary: 'Create a list',
          querystring: UploadQuery,
          description: `Requires the project admin role. ${described}`,
          body: NewListBody,
          response: { 202: Started },
        },
      },
      async (request, reply) => {
        const { principal } = request
        const started = await withLongUpload(request, async () => {
          const { format, parameters, bytes } = await readBody(request)
          const { project_id, name, kind, column } = readNewList(parameters)
          const { projectId } = await projectFor(
            postgres,
            principal,
            'records',
            project_id,
            'write',
          )
          const [listId, importId] = [uuidV7(), uuidV7()]
          const { organizationId } = principal
          const upload = { organizationId, format, kind, column, bytes }
          const list = await save(reply, importId, upload, async (client, saved) => {
            const created = await createList(client, { listId, projectId, name, kind })
            await storeImport(client, { importId, listId, ...saved })
            const object = { kind: 'list', id: listId } as const
            await audit(client, principal, 'list.create', object, { name, kind })
            return created
          })
          return { list, import: { id: importId, status: 'pending' as const } }
        })
        return reply.code(202).send(started)
      },
    )

    app.post(
      `${path}/:list_id/items`,
      {
        config,
        bodyLimit: jsonBytesMax,
        schema: {
          tags,
          operationId: 'addListItems',
          summary: 'Add items to a list',
          params: ById,
          querystring: ItemsQuery,
          description: `Requires the project admin role. ${described} Items that the list already contains are duplicates.`,
          body: NewItemsBody,
          response: { 202: Started },
        },
      },
      async (request, reply) => {
        const { principal, params } = request
        const started = await withLongUpload(request, async () => {
          const { format, parameters, bytes } = await readBody(request)
          const { project_id, column } = readNewItems(parameters)
          const scope = await recordScopeOf(principal, project_id)
          const {
            id,
            kind,
            project_id: projectId,
          } = await readList(postgres, scope, params.list_id)
          await projectFor(postgres, principal, 'records', projectId, 'write')
          const importId = uuidV7()
          const { organizationId } = principal
          const upload = { organizationId, format, kind, column, bytes }
          const list = await save(reply, importId, upload, async (client, saved) => {
            await storeImport(client, { importId, listId: id, ...saved })
            const object = { kind: 'list', id } as const
            await audit(client, principal, 'list.add_items', object, { import_id: importId })
            return readList(client, scope, id)
          })
          return { list, import: { id: importId, status: 'pending' as const } }
        })
        return reply.code(202).send(started)
      },
    )
  }

/** Limits of one organization in one process. Each upload may fill a gigabyte of the disk that all share. */
const limits = { atOnce: 4, waitingMax: 100, waitMs: 30_000 }
const retrySeconds = 10

/** Returns a function that runs an upload of an organization, after earlier ones if there are many. Throws 503 "busy". */
function createUploadSlots() {
  const limiter = new ConcurrencyLimiter(limits)
  return async <T>(organizationId: string, signal: AbortSignal, work: () => Promise<T>) => {
    if (!(await limiter.enter(organizationId, signal)))
      throw busy('This organization has too many uploads in progress.', retrySeconds)
    try {
      return await work()
    } finally {
      limiter.leave(organizationId)
    }
  }
}
